import { useInsertionEffect } from "react";

/**
 * Stands in for the package react-style-singleton, by which Radix locks the page's scrolling under
 * an open dialog: a constructed style sheet instead of a <style> element, because the
 * Content-Security-Policy allows no inline styles.
 */
export function styleSingleton() {
  return function StyleSheet({ styles }: { styles: string; dynamic?: boolean }): null {
    useInsertionEffect(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(styles);
      document.adoptedStyleSheets.push(sheet);
      return () => {
        document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
      };
    }, [styles]);
    return null;
  };
}
