import address from "@/pages/map/layout?worker&url";

/** What the layout is asked for: a place for each dot, of which links name two by their index. */
export interface Laying {
  /** Counts up; answers repeat it. */
  run: number;
  dots: readonly { id: string; x?: number | undefined; y?: number | undefined; radius: number }[];
  links: readonly (readonly [number, number])[];
  /** Whether its steps are to be seen, and not its end alone. */
  isWatched: boolean;
}

/** Where the dots are after a step: x and y of each, in the order in which they were given. */
export interface Laid {
  run: number;
  places: Float32Array;
  isAtRest: boolean;
}

interface LayoutWorker extends Worker {
  postMessage(asked: Laying): void;
}

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL: (url: string) => string };
}

// The page's policy lets code come from nowhere else, whatever address it is asked for.
const ours = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy(
  "map-layout",
  { createScriptURL: () => address },
);

/** The layout of a map, in a worker: a step of two thousand dots takes as long as a frame. */
export function layoutWorker(): LayoutWorker {
  return new Worker(ours?.createScriptURL(address) ?? address, { type: "module" });
}
