/** Placing a graph on a plane (Fruchterman and Reingold, 1991), the same for the same graph. */

export interface Place {
  x: number;
  y: number;
}

// Enough for a hundred nodes to come to rest, and done within a frame or two.
const STEPS = 220;
// The golden angle: points on such a spiral are spread evenly, whatever their number.
const TURN = Math.PI * (3 - Math.sqrt(5));

/**
 * A place for each key, in a box of `width` by `height`.
 *
 * Linked keys draw each other, all others push each other away; all are drawn to the middle a little,
 * so that what is linked to nothing stays in sight.
 */
export function layout(
  keys: readonly string[],
  edges: readonly { source: string; target: string }[],
  width: number,
  height: number,
): Map<string, Place> {
  const ideal = Math.sqrt((width * height) / Math.max(1, keys.length)) * 0.75;
  const places = keys.map((_, index): Place => {
    const radius = Math.sqrt((index + 0.5) / keys.length) * 0.45;
    return {
      x: width * (0.5 + radius * Math.cos(index * TURN)),
      y: height * (0.5 + radius * Math.sin(index * TURN)),
    };
  });
  const index = new Map(keys.map((key, at) => [key, at]));
  const links = edges
    .map(({ source, target }) => [index.get(source), index.get(target)] as const)
    .filter((pair): pair is readonly [number, number] => !pair.includes(undefined));
  for (let step = 0; step < STEPS; step++) {
    const most = ideal * (1 - step / STEPS);
    const moves = forces(places, links, ideal, width, height);
    places.forEach((place, at) => {
      const move = moves[at] ?? { x: 0, y: 0 };
      const length = Math.hypot(move.x, move.y) || 1;
      const far = Math.min(length, most) / length;
      place.x = Math.min(width, Math.max(0, place.x + move.x * far));
      place.y = Math.min(height, Math.max(0, place.y + move.y * far));
    });
  }
  return new Map(keys.map((key, at) => [key, places[at] ?? { x: width / 2, y: height / 2 }]));
}

function forces(
  places: readonly Place[],
  links: readonly (readonly [number, number])[],
  ideal: number,
  width: number,
  height: number,
): Place[] {
  const moves = places.map((place) => ({
    x: (width / 2 - place.x) * 0.04,
    y: (height / 2 - place.y) * 0.04,
  }));
  const push = (a: number, b: number, force: (distance: number) => number) => {
    const [one, other] = [places[a], places[b]];
    const [moved, opposite] = [moves[a], moves[b]];
    if (!one || !other || !moved || !opposite) return;
    const distance = Math.max(1, Math.hypot(one.x - other.x, one.y - other.y));
    const strength = force(distance) / distance;
    moved.x += (one.x - other.x) * strength;
    moved.y += (one.y - other.y) * strength;
    opposite.x -= (one.x - other.x) * strength;
    opposite.y -= (one.y - other.y) * strength;
  };
  for (let a = 0; a < places.length; a++)
    for (let b = a + 1; b < places.length; b++) push(a, b, (far) => (ideal * ideal) / far);
  for (const [a, b] of links) push(a, b, (far) => -(far * far) / ideal);
  return moves;
}
