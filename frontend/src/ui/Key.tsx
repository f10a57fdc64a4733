/** A key of the keyboard. */
export function Key({ children }: { children: string }) {
  return (
    <kbd className="min-w-5 rounded border border-line-strong bg-sunken px-1.5 text-center font-sans text-xs text-ink-2">
      {children}
    </kbd>
  );
}
