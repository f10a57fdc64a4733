import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { ApiError } from "@/api/problem";
import type { Opened } from "@/shell/opened";
import { dismiss, toast, toastError } from "@/ui/toasts";

/** Something that a person does to memory. */
export type Change = () => Promise<Done>;

export interface Done {
  /** What was done, in a sentence. */
  said: string;
  /** Takes it back, where the API can. */
  undo?: Change;
  /** Keeps what was typed, where some of it was masked. */
  keep?: Change;
  /** What the drawer should show from now on: an edited fact is another fact. */
  shown?: Opened;
}

interface Asked {
  make: Change;
  refused: (error: Error) => void;
  onDone?: (() => void) | undefined;
  /** The drawer that it was asked for in. */
  drawer: Opened | undefined;
}

/** What is being changed, by the latest call of `mutate`. */
export interface Changing {
  /** `onDone` is called once the page shows the change, unless whoever asked is gone by then. */
  mutate: (make: Change, onDone?: () => void) => void;
  isPending: boolean;
  isIdle: boolean;
  isError: boolean;
  reset: () => void;
}

// The toast that offers an undo: taken back by a key, it must not be offered any longer.
const offers = new WeakMap<Change, number>();

/**
 * Makes changes: says what was done, offers to take it back, and reads anew whatever is shown.
 * A refusal is told as a toast unless `refused` does something else with it.
 */
export function useChange(refused: (error: Error) => void = toastError): Changing {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const router = useRouter();
  const isShown = useIsShown();
  const { mutate, isPending, isIdle, isError, reset } = useMutation<Done, Error, Asked>({
    mutationFn: ({ make }) => make(),
    onSuccess: ({ said, undo, keep, shown }, { make, drawer }) => {
      const offer = offers.get(make);
      if (offer !== undefined) dismiss(offer);
      const after = shown ?? drawer;
      const shownAs = toast(
        said,
        undo && (() => later(undo, after)),
        keep && (() => later(keep, after)),
      );
      if (undo) offers.set(undo, shownAs);
      if (shown)
        void navigate({
          to: ".",
          // Another drawer may have been opened meanwhile, with something half typed in it.
          search: (now) => (now.open && now.open === drawer ? { ...now, open: shown } : now),
          resetScroll: false,
          ignoreBlocker: true, // what was typed there is saved
        });
    },
    onError: (error, { refused }) => refused(error),
    onSettled: async (_, error, { onDone }) => {
      // Awaited: what was pressed stays busy until the page shows what came of it.
      await queries.invalidateQueries();
      // Here, and not in a callback of `mutate`: those end with the next call, such as that of Undo.
      if (!error && isShown()) onDone?.();
    },
  });
  // A toast outlives the form that it came from, so the form cannot tell its refusal.
  const later = (make: Change, drawer: Opened | undefined) => {
    offers.delete(make); // the toast that was pressed goes by itself, and the focus with it
    mutate({ make, refused: (error) => toastError(error, again(error, make, drawer)), drawer });
  };
  /** It went with its toast, and is offered anew where nobody refused it. */
  const again = (error: Error, make: Change, drawer: Opened | undefined) =>
    error instanceof ApiError && (error.isAway || error.isOfAnother)
      ? () => later(make, drawer)
      : undefined;
  return {
    mutate: (make, onDone) =>
      mutate({ make, refused, onDone, drawer: router.state.location.search.open }),
    isPending,
    isIdle,
    isError,
    reset,
  };
}

function useIsShown(): () => boolean {
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return () => isShown.current;
}

// How many forms have something typed that is not saved.
let unsaved = 0;

/** Whether something would be lost with this page. */
export function hasUnsaved(): boolean {
  return unsaved > 0;
}

/**
 * Asks before what was typed is lost to another page or drawer, to Back, or to a reload. The result closes
 * a form, by Esc or a button: it asks as well, and does nothing while what was typed is being saved.
 */
export function useUnsaved(
  isChanged: boolean,
  isSaving = false,
  question = "Discard what you have typed?",
): (close: () => void) => void {
  const { history } = useRouter();
  useEffect(() => {
    if (!isChanged) return;
    unsaved++;
    const unblock = history.block({
      blockerFn: ({ currentLocation, nextLocation }) =>
        placeOf(currentLocation) !== placeOf(nextLocation) && !window.confirm(question),
      enableBeforeUnload: true,
    });
    return () => {
      unsaved--;
      unblock();
    };
  }, [history, isChanged, question]);
  return (close) => {
    if (!isSaving && (!isChanged || window.confirm(question))) close();
  };
}

// Filters may change beside a drawer.
function placeOf({ pathname, search }: { pathname: string; search: string }): string {
  const given = new URLSearchParams(search);
  return [pathname, ...["open", "add", "tab", "companion"].map((one) => given.get(one))].join(" ");
}
