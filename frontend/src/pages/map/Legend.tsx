import clsx from "clsx";
import { TRUSTS } from "@/pages/map/trusts";

/** What colours, shapes and sizes stand for. */
export function Legend() {
  return (
    <div className="mt-3 space-y-1.5 text-xs text-ink-2">
      <ul aria-label="Colours: the least trust" className="flex flex-wrap gap-x-4 gap-y-1">
        {TRUSTS.map(({ trust, fill, label }) => (
          <li key={trust} className="flex items-center gap-1.5">
            <span aria-hidden className={clsx("size-2.5 rounded-full", fill)} />
            {label}
          </li>
        ))}
      </ul>
      <p>
        Colour is the least trust of the facts, opacity their mean confidence: what fades is being
        forgotten. Circles are people, squares organisations, diamonds places, triangles anything
        else. Drag to move, Ctrl+wheel or pinch to zoom, click to open.
      </p>
    </div>
  );
}
