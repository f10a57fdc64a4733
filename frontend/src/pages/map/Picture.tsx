import { Maximize, Minus, Plus } from "lucide-react";
import { useEffect, useRef } from "react";
import type { Mapped } from "@/pages/map/queries";
import { Scene } from "@/pages/map/scene";
import { IconButton } from "@/ui/Button";
import { plural } from "@/ui/format";

interface PictureProps {
  map: Mapped;
  /** The ids of a way that is drawn over everything else. */
  path: readonly string[];
  onOpen: (id: string) => void;
}

const ZOOM = 1.4;

/** The map, drawn. The list has all of it in words. */
export function Picture({ map, path, onOpen }: PictureProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scene = useRef<Scene>(null);
  const open = useRef(onOpen);
  open.current = onOpen;
  useEffect(() => {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const made = new Scene(canvas.current!, still, (id) => open.current(id));
    scene.current = made;
    return () => made.dispose();
  }, []);
  useEffect(() => scene.current?.show(map), [map]);
  useEffect(() => scene.current?.mark(path), [path]);
  return (
    <div className="relative h-[55vh] min-h-80 overflow-hidden rounded-xl border bg-surface shadow-card lg:h-[calc(100vh-20rem)]">
      <canvas
        ref={canvas}
        role="img"
        aria-label={`Map of ${plural(map.nodes.length, "entity", "entities")} and ${plural(map.edges.length, "connection")}; the list has the same in words`}
        className="size-full touch-none cursor-grab"
      />
      <div className="absolute right-2 bottom-2 flex gap-1 rounded-lg border bg-raised p-1">
        <IconButton label="Zoom in" onClick={() => scene.current?.zoomBy(ZOOM)}>
          <Plus />
        </IconButton>
        <IconButton label="Zoom out" onClick={() => scene.current?.zoomBy(1 / ZOOM)}>
          <Minus />
        </IconButton>
        <IconButton label="Show all of it" onClick={() => scene.current?.fit()}>
          <Maximize />
        </IconButton>
      </div>
    </div>
  );
}
