import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationNodeDatum,
} from "d3-force";
import type { Laid, Laying } from "@/pages/map/laying";

interface Dot extends SimulationNodeDatum {
  id: string;
  radius: number;
}

// Where the layout has come to rest, and in how many steps: of many entities each takes longer.
const RESTING = 0.02;
const STEPS = { few: 170, many: 80, from: 700 };
// How lively the layout is after a small change; after a larger one by how much of it is new.
const STIRRED = 0.03;
// Between two answers: a frame.
const SLICE_MILLISECONDS = 16;

const links = forceLink<Dot, { source: Dot; target: Dot }>([]).distance(55);
const layout = forceSimulation<Dot>([])
  .stop()
  .alphaMin(RESTING)
  .force("apart", forceManyBody<Dot>().strength(-90).theta(1.1).distanceMax(350))
  .force(
    "beside",
    forceCollide<Dot>((one) => one.radius + 3),
  )
  .force("links", links)
  .force("x", forceX<Dot>().strength(0.06))
  .force("y", forceY<Dot>().strength(0.06));
let slice: number | undefined;

self.onmessage = ({ data: asked }: MessageEvent<Laying>) => {
  self.clearTimeout(slice);
  const known = new Map(layout.nodes().map((one) => [one.id, one]));
  const dots = asked.dots.map((one): Dot => {
    const before = known.get(one.id);
    return before ? Object.assign(before, { radius: one.radius }) : placed(one);
  });
  layout.nodes(dots);
  links.links(asked.links.map(([one, other]) => ({ source: dots[one]!, target: dots[other]! })));
  const steps = dots.length < STEPS.from ? STEPS.few : STEPS.many;
  const came = dots.filter((one) => !known.has(one.id)).length;
  layout
    .alphaDecay(1 - RESTING ** (1 / steps))
    .alpha(Math.max(layout.alpha(), came / dots.length, STIRRED));
  work(asked);
};

/** Without a place yet it gets one from the layout. */
function placed({ id, x, y, radius }: Laying["dots"][number]): Dot {
  return x === undefined || y === undefined ? { id, radius } : { id, x, y, radius };
}

function work(asked: Laying): void {
  const began = performance.now();
  do layout.tick();
  while (performance.now() - began < SLICE_MILLISECONDS && layout.alpha() > RESTING);
  const isAtRest = layout.alpha() <= RESTING;
  if (asked.isWatched || isAtRest) {
    const places = Float32Array.from(layout.nodes().flatMap((one) => [one.x!, one.y!]));
    const laid: Laid = { run: asked.run, places, isAtRest };
    self.postMessage(laid, { transfer: [places.buffer] });
  }
  if (isAtRest) return;
  // Where it is watched it leaves as much time as it takes: what draws it may have no core of its own.
  const pause = asked.isWatched ? performance.now() - began : 0;
  slice = self.setTimeout(() => work(asked), pause);
}
