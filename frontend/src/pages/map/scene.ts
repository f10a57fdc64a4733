import { layoutWorker, type Laid } from "@/pages/map/laying";
import type { Mapped, MapNode } from "@/pages/map/queries";
import { trusted, TRUSTS, type TrustShown } from "@/pages/map/trusts";

interface Dot {
  id: string;
  node: MapNode;
  trust: TrustShown;
  /** Where it is drawn; undefined until the layout has put it somewhere. */
  x?: number;
  y?: number;
  /** Where the layout has put it, to which it glides. */
  toX?: number;
  toY?: number;
  /** In pixels at a zoom of 1. */
  radius: number;
  /** Where its name is, one of `SIDES`. */
  side: number;
  /** As it is drawn, from 0 to 1, and as it will be. */
  opacity: number;
  aim: number;
}

interface Line {
  source: Dot;
  target: Dot;
  opacity: number;
  aim: number;
}

interface View {
  x: number;
  y: number;
  zoom: number;
}

const FADE_MILLISECONDS = 250;
// The layout answers every few frames; between two answers what is drawn moves on.
const GLIDE_MILLISECONDS = 50;
// So near to where it will be, in pixels, a dot has arrived.
const ARRIVED_PIXELS = 0.25;
// So near to what it will be, an opacity looks no different.
const NEAR = 0.04;
const LEAST_OPACITY = 0.22;
const DIMMED = 0.2;
const [LEAST_ZOOM, MOST_ZOOM, FITTED_ZOOM] = [0.05, 6, 2];
const LABELS = 60;
// Room for a name, to the right of what it names.
const NAME_PIXELS = 110;
// So far a pointer may be from the edge of a small dot, or move during a click.
const REACH_PIXELS = 6;
// Where a name may be: to the right of its dot, to the left, below, above.
const SIDES = [0, 1, 2, 3] as const;
const LINE_LEVELS = 4;
const LINE_OPACITY = 0.55;
// A line of less than a pixel is drawn sooner than one that has a width.
const HAIR_PIXELS = 0.9;
const SHADES = 20;

/**
 * The map as it is drawn: entities that repel each other, held together by what connects them. What
 * comes appears, what goes fades away, and what stays keeps its place.
 */
export class Scene {
  readonly #canvas: HTMLCanvasElement;
  readonly #pen: CanvasRenderingContext2D;
  readonly #still: boolean;
  readonly #open: (id: string) => void;
  readonly #dots = new Map<string, Dot>();
  readonly #lines = new Map<string, Line>();
  readonly #layout = layoutWorker();
  /** What the layout is at work on; what it says of an earlier one is late. */
  #laid: { run: number; dots: readonly Dot[] } = { run: 0, dots: [] };
  /** What the dots are placed by, as keys of `#lines`. */
  readonly #heeded = new Set<string>();
  #isAtRest = true;
  #isMoving = false;
  readonly #ending = new AbortController();
  readonly #pointers = new Map<number, { x: number; y: number }>();
  #neighbours = new Map<string, Set<string>>();
  #path: readonly string[] = [];
  #hovered: string | undefined;
  #view: View = { x: 0, y: 0, zoom: 1 };
  #fits = true;
  #moved = 0;
  #size = { width: 0, height: 0 };
  #colors!: Colors;
  #frame = 0;
  #last = 0;

  /** @param still - nothing moves by itself, as the system asks for. */
  constructor(canvas: HTMLCanvasElement, still: boolean, open: (id: string) => void) {
    this.#canvas = canvas;
    this.#pen = canvas.getContext("2d")!;
    this.#still = still;
    this.#open = open;
    const { signal } = this.#ending;
    this.#layout.onmessage = ({ data }: MessageEvent<Laid>) => this.#place(data);
    this.#recolor();
    const sizes = new ResizeObserver(() => this.#resize());
    sizes.observe(canvas);
    const themes = new MutationObserver(() => this.#recolor());
    themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    signal.addEventListener("abort", () => {
      sizes.disconnect();
      themes.disconnect();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#recolor(), {
      signal,
    });
    canvas.addEventListener("pointerdown", (event) => this.#press(event), { signal });
    canvas.addEventListener("pointermove", (event) => this.#move(event), { signal });
    canvas.addEventListener("pointerup", (event) => this.#release(event), { signal });
    canvas.addEventListener("pointercancel", (event) => this.#release(event), { signal });
    canvas.addEventListener("pointerleave", () => this.#hover(undefined), { signal });
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { signal, passive: false });
  }

  dispose(): void {
    this.#ending.abort();
    this.#layout.terminate();
    cancelAnimationFrame(this.#frame);
  }

  /** Draws this from now on. */
  show({ nodes, edges }: Mapped): void {
    const here = new Set(nodes.map((one) => one.id));
    for (const [id, dot] of this.#dots) if (!here.has(id)) dot.aim = 0;
    for (const node of nodes) {
      const known = this.#dots.get(node.id);
      const radius = 4 + Math.min(14, 1.8 * Math.sqrt(node.facts + node.named));
      const now = { node, trust: trusted(node).trust, radius };
      const aim = LEAST_OPACITY + (1 - LEAST_OPACITY) * (node.confidence ?? 0);
      if (known) Object.assign(known, now, { aim });
      else this.#dots.set(node.id, { id: node.id, ...now, side: SIDES[0], opacity: 0, aim });
    }
    for (const line of this.#lines.values()) line.aim = 0;
    this.#neighbours = new Map();
    for (const { source_id, target_id } of edges) {
      const [source, target] = [this.#dots.get(source_id)!, this.#dots.get(target_id)!];
      const key = `${source_id} ${target_id}`;
      const known = this.#lines.get(key);
      if (known) known.aim = 1;
      else this.#lines.set(key, { source, target, opacity: 0, aim: 1 });
      this.#meet(source_id, target_id);
      this.#meet(target_id, source_id);
      placeBeside(source, target);
    }
    this.#canvas.dataset["state"] = "moving";
    if (!this.#isPlaced()) this.#lay();
    else if (this.#still) this.#fade(1);
    this.#ask();
  }

  /** Whether the layout heeds all of this already: what only went leaves the rest where it is. */
  #isPlaced(): boolean {
    for (const one of this.#dots.values()) if (one.aim > 0 && one.toX === undefined) return false;
    for (const [key, one] of this.#lines) if (one.aim > 0 && !this.#heeded.has(key)) return false;
    return true;
  }

  /** Draws a way from the first to the last over everything else; none where it is empty. */
  mark(path: readonly string[]): void {
    this.#path = path;
    this.#ask();
  }

  zoomBy(factor: number): void {
    const { width, height } = this.#size;
    this.#zoomAt(width / 2, height / 2, factor);
  }

  fit(): void {
    this.#fits = true;
    this.#ask();
  }

  #meet(one: string, other: string): void {
    const known = this.#neighbours.get(one);
    if (known) known.add(other);
    else this.#neighbours.set(one, new Set([other]));
  }

  // What moves by itself.

  #lay(): void {
    const dots = [...this.#dots.values()].filter((one) => one.aim > 0);
    const places = new Map(dots.map((one, place) => [one.id, place]));
    const lines = [...this.#lines].filter(([, one]) => one.aim > 0);
    for (const [key] of lines) this.#heeded.add(key);
    const links = lines.map(
      ([, { source, target }]) => [places.get(source.id)!, places.get(target.id)!] as const,
    );
    this.#laid = { run: this.#laid.run + 1, dots };
    this.#isAtRest = false;
    this.#layout.postMessage({
      run: this.#laid.run,
      dots: dots.map(({ id, x, y, radius }) => ({ id, x, y, radius })),
      links,
      isWatched: !this.#still,
    });
  }

  #place({ run, places, isAtRest }: Laid): void {
    if (run !== this.#laid.run) return;
    this.#laid.dots.forEach((dot, at) => {
      [dot.toX, dot.toY] = [places[2 * at]!, places[2 * at + 1]!];
      dot.x ??= dot.toX;
      dot.y ??= dot.toY;
    });
    this.#isAtRest = isAtRest;
    if (this.#still) {
      this.#fade(1);
      this.#glide(1);
    }
    this.#ask();
  }

  #ask(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame((now) => this.#step(now));
  }

  #step(now: number): void {
    this.#frame = 0;
    const passed = Math.min(100, now - this.#last);
    this.#last = now;
    const isFading = this.#still ? false : this.#fade(1 - Math.exp(-passed / FADE_MILLISECONDS));
    const isGliding = this.#still ? false : this.#glide(1 - Math.exp(-passed / GLIDE_MILLISECONDS));
    this.#isMoving = isFading || isGliding || !this.#isAtRest;
    this.#draw();
    if (isFading || isGliding) this.#ask();
    else if (this.#isAtRest) this.#canvas.dataset["state"] = "settled";
  }

  /** Brings what is drawn nearer to what it will be; whether there is more to do. */
  #fade(share: number): boolean {
    let isFading = false;
    for (const all of [this.#dots, this.#lines] as Map<string, Dot | Line>[]) {
      for (const [key, one] of all) {
        const rest = one.aim - one.opacity;
        if (Math.abs(rest) < NEAR) one.opacity = one.aim;
        else {
          one.opacity += rest * share;
          isFading ||= share < 1;
        }
        if (one.opacity === 0 && one.aim === 0) all.delete(key);
      }
    }
    return isFading;
  }

  /** Brings the dots nearer to where they will be; whether there is more to do. */
  #glide(share: number): boolean {
    const near = ARRIVED_PIXELS / this.#view.zoom;
    let isGliding = false;
    for (const dot of this.#laid.dots) {
      if (dot.toX === undefined || dot.toY === undefined) continue;
      const [right, down] = [dot.toX - dot.x!, dot.toY - dot.y!];
      if (share === 1 || Math.abs(right) + Math.abs(down) < near)
        [dot.x, dot.y] = [dot.toX, dot.toY];
      else {
        dot.x! += right * share;
        dot.y! += down * share;
        isGliding = true;
      }
    }
    return isGliding;
  }

  // What a pointer does.

  #press(event: PointerEvent): void {
    this.#canvas.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (this.#pointers.size === 1) this.#moved = 0;
  }

  #move({ pointerId, offsetX: x, offsetY: y }: PointerEvent): void {
    const before = this.#pointers.get(pointerId);
    if (!before) {
      this.#hover(this.#at(x, y)?.id);
      return;
    }
    const other = [...this.#pointers].find(([id]) => id !== pointerId)?.[1];
    this.#pointers.set(pointerId, { x, y });
    this.#moved += Math.hypot(x - before.x, y - before.y);
    if (other) {
      const spread = (one: { x: number; y: number }) =>
        Math.hypot(one.x - other.x, one.y - other.y) || 1;
      this.#zoomAt((x + other.x) / 2, (y + other.y) / 2, spread({ x, y }) / spread(before));
    } else if (this.#moved > REACH_PIXELS) {
      this.#look({
        ...this.#view,
        x: this.#view.x + x - before.x,
        y: this.#view.y + y - before.y,
      });
    }
  }

  #release({ pointerId, offsetX, offsetY, type }: PointerEvent): void {
    const wasAlone = this.#pointers.size === 1;
    if (!this.#pointers.delete(pointerId) || type === "pointercancel") return;
    const hit = wasAlone && this.#moved <= REACH_PIXELS ? this.#at(offsetX, offsetY) : undefined;
    if (hit) this.#open(hit.id);
  }

  /** With Ctrl or ⌘, which a pinch on a trackpad counts as: the wheel alone scrolls the page. */
  #wheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.#zoomAt(event.offsetX, event.offsetY, Math.exp(-event.deltaY / 300));
  }

  #hover(id: string | undefined): void {
    if (id === this.#hovered) return;
    this.#hovered = id;
    this.#canvas.style.cursor = id ? "pointer" : "grab";
    this.#ask();
  }

  #at(x: number, y: number): Dot | undefined {
    const { x: left, y: top, zoom } = this.#view;
    let nearest: Dot | undefined;
    let least = Infinity;
    for (const dot of this.#dots.values()) {
      const away = Math.hypot(dot.x! * zoom + left - x, dot.y! * zoom + top - y);
      const beyond = away - dot.radius * Math.sqrt(zoom);
      if (dot.aim > 0 && beyond < Math.min(REACH_PIXELS, least)) [nearest, least] = [dot, beyond];
    }
    return nearest;
  }

  // What is seen.

  #zoomAt(x: number, y: number, factor: number): void {
    const zoom = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, this.#view.zoom * factor));
    const by = zoom / this.#view.zoom;
    this.#look({ zoom, x: x - (x - this.#view.x) * by, y: y - (y - this.#view.y) * by });
  }

  #look(view: View): void {
    this.#view = view;
    this.#fits = false;
    this.#ask();
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const dense = Math.min(2, window.devicePixelRatio);
    this.#size = { width, height };
    this.#canvas.width = Math.round(width * dense);
    this.#canvas.height = Math.round(height * dense);
    this.#draw();
  }

  #recolor(): void {
    this.#colors = colorsOf(this.#canvas);
    this.#ask();
  }

  #fitted(): View {
    const { width, height } = this.#size;
    let [left, right, top, bottom] = [0, 0, 0, 0];
    for (const { x, y, aim } of this.#dots.values()) {
      if (aim === 0 || x === undefined || y === undefined) continue;
      [left, right] = [Math.min(left, x), Math.max(right, x)];
      [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
    }
    // Names stand to the right of what they name.
    const room = {
      width: Math.max(width - NAME_PIXELS - 60, 60),
      height: Math.max(height - 80, 60),
    };
    const zoom = Math.min(
      FITTED_ZOOM,
      room.width / Math.max(1, right - left),
      room.height / Math.max(1, bottom - top),
    );
    return {
      zoom,
      x: (width - NAME_PIXELS) / 2 - ((left + right) / 2) * zoom,
      y: height / 2 - ((top + bottom) / 2) * zoom,
    };
  }

  #draw(): void {
    const { width, height } = this.#size;
    if (width === 0) return;
    if (this.#fits) this.#view = this.#fitted();
    const { x, y, zoom } = this.#view;
    const dense = this.#canvas.width / width;
    const pen = this.#pen;
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    pen.clearRect(0, 0, width, height);
    // Nothing is where the layout has not put it yet: a comparison with NaN is false.
    const inSight = (one: Dot) => {
      const [left, top] = [one.x! * zoom + x, one.y! * zoom + y];
      return left > -20 && left < width + 20 && top > -20 && top < height + 20;
    };
    const shown = [...this.#dots.values()].filter(inSight);
    const lit = this.#lit();
    pen.setTransform(dense * zoom, 0, 0, dense * zoom, dense * x, dense * y);
    this.#drawLines(lit, inSight);
    this.#drawDots(shown, lit);
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    this.#drawNames(shown, lit);
  }

  /** What is looked at, with its neighbours; undefined where everything is alike. */
  #lit(): ReadonlySet<string> | undefined {
    if (this.#hovered)
      return new Set([this.#hovered, ...(this.#neighbours.get(this.#hovered) ?? [])]);
    return this.#path.length > 0 ? new Set(this.#path) : undefined;
  }

  #drawLines(lit: ReadonlySet<string> | undefined, inSight: (one: Dot) => boolean): void {
    const pen = this.#pen;
    // A stroke for each of a few opacities instead of one for each line.
    const levels = Array.from({ length: LINE_LEVELS + 1 }, (): Line[] => []);
    for (const line of this.#lines.values()) {
      const { source, target } = line;
      if (source.x === undefined || target.x === undefined) continue;
      if (!inSight(source) && !inSight(target)) continue;
      const isDim = lit && !(lit.has(source.id) && lit.has(target.id));
      const opacity = Math.min(line.opacity, source.opacity, target.opacity);
      levels[Math.ceil((isDim ? DIMMED * opacity : opacity) * LINE_LEVELS)]!.push(line);
    }
    pen.strokeStyle = this.#colors.line;
    pen.lineWidth = HAIR_PIXELS / this.#view.zoom;
    levels.forEach((lines, level) => {
      if (level === 0 || lines.length === 0) return;
      pen.globalAlpha = (level / LINE_LEVELS) * LINE_OPACITY;
      pen.beginPath();
      for (const { source, target } of lines) {
        pen.moveTo(source.x!, source.y!);
        pen.lineTo(target.x!, target.y!);
      }
      pen.stroke();
    });
    const way = this.#path
      .map((id) => this.#dots.get(id))
      .filter((one) => one !== undefined)
      .filter((one) => one.x !== undefined);
    if (way.length > 1) {
      pen.globalAlpha = 1;
      pen.strokeStyle = this.#colors.accent;
      pen.lineWidth = 3 / this.#view.zoom;
      pen.beginPath();
      way.forEach((one, place) =>
        place ? pen.lineTo(one.x!, one.y!) : pen.moveTo(one.x!, one.y!),
      );
      pen.stroke();
    }
  }

  #drawDots(shown: readonly Dot[], lit: ReadonlySet<string> | undefined): void {
    const pen = this.#pen;
    // Zoomed out they shrink less than what lies between them, so that they stay in sight.
    const grown = 1 / Math.sqrt(this.#view.zoom);
    // A canvas reads a colour anew each time that it is set: those of one colour follow each other.
    const byColor = new Map<string, Dot[]>();
    for (const dot of shown) {
      const opacity = lit && !lit.has(dot.id) ? dot.opacity * DIMMED * 2 : dot.opacity;
      const color = this.#colors.faded(dot.trust, opacity);
      const alike = byColor.get(color);
      if (alike) alike.push(dot);
      else byColor.set(color, [dot]);
    }
    for (const [color, dots] of byColor) {
      // One path for all of them; what looks alike has faded alike.
      pen.fillStyle = color;
      pen.globalAlpha = Math.min(1, dots[0]!.opacity * 4);
      pen.beginPath();
      for (const dot of dots) shape(pen, dot, dot.radius * grown);
      pen.fill();
    }
    pen.globalAlpha = 1;
    pen.lineWidth = 2 / this.#view.zoom;
    pen.strokeStyle = this.#colors.accent;
    const marked = new Set(this.#path);
    if (this.#hovered) marked.add(this.#hovered);
    for (const dot of shown) {
      if (!marked.has(dot.id)) continue;
      pen.beginPath();
      shape(pen, dot, dot.radius * grown);
      pen.stroke();
    }
  }

  /** The names of the best connected, as far as they do not cover each other, beside the dots where there is room. */
  #drawNames(shown: readonly Dot[], lit: ReadonlySet<string> | undefined): void {
    const pen = this.#pen;
    const { x, y, zoom } = this.#view;
    const grown = Math.sqrt(zoom);
    pen.font = `12px ${this.#colors.font}`;
    pen.textBaseline = "middle";
    pen.lineWidth = 3;
    pen.lineJoin = "round";
    pen.strokeStyle = this.#colors.ground;
    pen.fillStyle = this.#colors.ink;
    const taken: Place[] = [];
    const ordered = lit
      ? shown.filter((one) => lit.has(one.id))
      : shown.filter((one) => one.aim > 0);
    for (const dot of ordered) {
      if (taken.length >= LABELS) break;
      const name = short(dot.node.name);
      const [middle, height] = [dot.x! * zoom + x, dot.y! * zoom + y];
      const [away, wide] = [dot.radius * grown + 4, 6.6 * name.length];
      const placeAt = (side: number): Place => {
        const left = [middle + away, middle - away - wide][side] ?? middle - wide / 2;
        const at = [height, height, height + away + 7][side] ?? height - away - 7;
        return { left, right: left + wide, y: at };
      };
      const isFree = ({ left, right, y: at }: Place) =>
        taken.every((one) => Math.abs(one.y - at) > 15 || one.left > right || one.right < left);
      const coversDot = ({ left, right, y: at }: Place) =>
        shown.some((one) => {
          const [across, reach] = [one.x! * zoom + x, one.radius * grown];
          if (one === dot || across + reach < left || across - reach > right) return false;
          return Math.abs(one.y! * zoom + y - at) < reach + 5;
        });
      const isGood = (one: Place) =>
        isFree(one) && one.left >= 0 && one.right <= this.#size.width && !coversDot(one);
      // While dots move, a name keeps its side. Among many, one over a dot is better than none.
      if (!this.#isMoving) dot.side = SIDES.find((side) => isGood(placeAt(side))) ?? SIDES[0];
      const place = placeAt(dot.side);
      if (!isFree(place)) continue;
      taken.push(place);
      pen.globalAlpha = Math.min(1, dot.opacity * 4);
      pen.strokeText(name, place.left, place.y);
      pen.fillText(name, place.left, place.y);
    }
    pen.globalAlpha = 1;
  }
}

/** Of a name, in pixels of the canvas; `y` is its middle. */
interface Place {
  left: number;
  right: number;
  y: number;
}

/** An entity that is new begins beside one that it is connected with. */
function placeBeside(one: Dot, other: Dot): void {
  const [known, fresh] = one.x === undefined ? [other, one] : [one, other];
  if (known.x === undefined || known.y === undefined || fresh.x !== undefined) return;
  // By its index, not by chance: the same memory makes the same map.
  const angle = 2.4 * fresh.id.charCodeAt(0) + fresh.id.charCodeAt(1);
  fresh.x = known.x + 30 * Math.cos(angle);
  fresh.y = known.y + 30 * Math.sin(angle);
}

/**
 * Adds to the path: a circle for a person, a square for an organisation, a diamond for a place, a triangle for
 * something else.
 */
function shape(pen: CanvasRenderingContext2D, { node, x, y }: Dot, radius: number): void {
  const [left, top] = [x!, y!];
  switch (node.entity_type) {
    case "person":
      pen.moveTo(left + radius, top);
      pen.arc(left, top, radius, 0, 2 * Math.PI);
      return;
    case "organization":
      pen.rect(left - 0.9 * radius, top - 0.9 * radius, 1.8 * radius, 1.8 * radius);
      return;
    case "place":
      pen.moveTo(left, top - 1.25 * radius);
      pen.lineTo(left + 1.25 * radius, top);
      pen.lineTo(left, top + 1.25 * radius);
      pen.lineTo(left - 1.25 * radius, top);
      break;
    case "other":
      pen.moveTo(left, top - 1.2 * radius);
      pen.lineTo(left + 1.1 * radius, top + 0.8 * radius);
      pen.lineTo(left - 1.1 * radius, top + 0.8 * radius);
  }
  pen.closePath();
}

function short(name: string): string {
  return name.length > 28 ? `${name.slice(0, 27)}…` : name;
}

interface Colors {
  /** What a trust looks like that has faded so far. Nothing shows through: it is mixed with the ground. */
  faded: (trust: TrustShown, opacity: number) => string;
  line: string;
  ink: string;
  ground: string;
  accent: string;
  font: string;
}

/** A mix as "#ff8000", which a canvas takes sooner than "color(srgb …)"; parts from 0 to 1. */
function hex(parts: readonly number[]): string {
  return `#${parts
    .map((one) =>
      Math.round(255 * one)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

/** The colours of the theme that holds now, as a canvas takes them. */
function colorsOf(canvas: HTMLCanvasElement): Colors {
  // With one, what is read would be the colour that it begins with.
  canvas.style.transition = "none";
  const resolved = (name: string, as = `var(--color-${name})`) => {
    canvas.style.color = as;
    return getComputedStyle(canvas).color;
  };
  const parts = (name: string) =>
    resolved(name, `color-mix(in srgb, var(--color-${name}) 100%, black)`)
      .match(/[\d.]+(?:e-?\d+)?/g)!
      .slice(0, 3)
      .map(Number);
  const ground = parts("surface");
  const shades = Object.fromEntries(
    TRUSTS.map(({ trust, color }) => {
      const full = parts(color);
      const mixed = (share: number) =>
        full.map((one, at) => share * one + (1 - share) * ground[at]!);
      return [trust, Array.from({ length: SHADES + 1 }, (_, shade) => hex(mixed(shade / SHADES)))];
    }),
  ) as Record<TrustShown, string[]>;
  const colors = {
    faded: (trust: TrustShown, opacity: number) => shades[trust][Math.round(opacity * SHADES)]!,
    line: resolved("ink-3"),
    ink: resolved("ink"),
    ground: resolved("surface"),
    accent: resolved("accent"),
    font: getComputedStyle(canvas).fontFamily,
  };
  canvas.style.color = "";
  return colors;
}
