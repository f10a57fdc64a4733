import { useRef, type ReactNode, type SyntheticEvent } from "react";

interface TooltipProps {
  text: ReactNode;
  /** One element that takes focus, and whose accessible name says what `text` does. */
  children: ReactNode;
}

// Between the hint and what it is about, and between the hint and the window's edge.
const [GAP, EDGE] = [6, 8];

/**
 * A short hint on hover and focus. A popover of the browser's own: nothing clips it, and Escape and a
 * click anywhere else close it. Radix's brings a layout engine of 15 KB to place it.
 */
export function Tooltip({ text, children }: TooltipProps) {
  const hint = useRef<HTMLSpanElement>(null);
  const show = ({ currentTarget }: SyntheticEvent) => {
    const over = currentTarget.firstElementChild?.getBoundingClientRect();
    const node = hint.current;
    if (!node || !over) return;
    node.togglePopover(true);
    const centred = over.left + (over.width - node.offsetWidth) / 2;
    const furthest = window.innerWidth - node.offsetWidth - EDGE;
    node.style.left = `${Math.max(EDGE, Math.min(centred, furthest))}px`;
    const above = over.top - node.offsetHeight - GAP;
    node.style.top = `${above >= EDGE ? above : over.bottom + GAP}px`;
  };
  const hide = () => hint.current?.togglePopover(false);
  return (
    <span
      className="contents"
      // A finger has no hover: it would leave the hint standing.
      onPointerEnter={(event) => event.pointerType === "mouse" && show(event)}
      onPointerLeave={hide}
      onFocus={(event) => event.target.matches(":focus-visible") && show(event)}
      onBlur={hide}
    >
      {children}
      <span
        ref={hint}
        popover="auto"
        aria-hidden
        className="pointer-events-none inset-auto m-0 max-w-xs animate-appear rounded-md border bg-raised px-2 py-1 text-xs text-ink shadow-raised"
      >
        {text}
      </span>
    </span>
  );
}
