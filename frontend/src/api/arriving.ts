import { nextRecovery, reportAway } from "@/api/reachability";

/**
 * A part of the page that is loaded when it is needed. While the server is away it waits for it. Where the
 * server has another version of the page by now, without this part, the page is loaded anew; the browser
 * asks first where something is typed.
 */
export function arriving<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return async () => {
    for (;;) {
      try {
        return await load();
      } catch (error) {
        const page = await servedPage();
        if (page === undefined) {
          reportAway("server");
          await nextRecovery();
        } else if (isThisOne(page)) throw error;
        else {
          window.location.reload();
          await new Promise(() => undefined);
        }
      }
    }
  };
}

/** The page as the server has it now; undefined where it does not answer. */
async function servedPage(): Promise<string | undefined> {
  try {
    const answer = await fetch("/", { headers: { accept: "text/html" }, cache: "no-store" });
    return answer.ok ? await answer.text() : undefined;
  } catch {
    return undefined;
  }
}

/** A page of another version begins with a script of another name. */
function isThisOne(page: string): boolean {
  const script = document.querySelector("script[type=module]")?.getAttribute("src");
  return !script || page.includes(script);
}
