/** What a memory said before; what it says now comes after. */
export function Superseded({ text }: { text: string }) {
  return (
    <del className="memory-text line-clamp-2 block text-sm text-ink-3 line-through">{text}</del>
  );
}
