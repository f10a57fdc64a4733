import { useWindowVirtualizer } from "@tanstack/react-virtual";
import clsx from "clsx";
import { ArrowDown } from "lucide-react";
import { flushSync } from "react-dom";
import {
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from "react";
import { SelectBox } from "@/ui/Field";

export interface Column<Row> {
  key: string;
  title: string;
  /** A track of the grid, such as "minmax(0,1fr)" or "7rem". */
  width: string;
  /** Its title is only read aloud. */
  quiet?: boolean;
  /** Left out where the table is narrow. */
  wide?: boolean;
  align?: "right";
  /** What `onSort` is told when the header is pressed; left out where nothing is ordered by it. */
  sort?: string;
  cell: (row: Row) => ReactNode;
}

interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** Enter, a click or a tap on a row. */
  onOpen?: (row: Row) => void;
  /** The row whose drawer is open. */
  openKey?: string | undefined;
  /** What the rows are ordered by, the most first; a header that offers an order is a button. */
  sort?: string | undefined;
  onSort?: (sort: string) => void;
  /** Called when the last rows come into sight, to fetch more. */
  onEnd?: () => void;
  /** Rows in all, where not all are here; undefined, with `onEnd`, where nobody knows. */
  total?: number | undefined;
  /** With it each row begins with a box, which "x" ticks, too. */
  choice?: Choice<Row> | undefined;
  /** Whether the rows are those of an earlier question: the answer is on its way. */
  outdated?: boolean;
}

interface Choice<Row> {
  /** Keys of the chosen rows. */
  ids: ReadonlySet<string>;
  toggle: (key: string) => void;
  /** What tells a row's box from the others. */
  name: (row: Row) => string;
}

// What a row measures until it is measured itself.
const ROW_PIXELS = 45;
// Rows kept beyond the window on either side, so that fast scrolling shows no gaps.
const SPARE_ROWS = 12;

/**
 * A list of any length: only the rows in the window are in the document. Up and down move between
 * rows, Enter opens one.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { label, rows, rowKey, onOpen, openKey, onEnd, total, sort, onSort } = props;
  const { choice, outdated } = props;
  const columns = choice ? [boxes(rowKey, choice), ...props.columns] : props.columns;
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(
    () => setTop((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY),
    [],
  );
  const printing = usePrinting();
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PIXELS,
    overscan: printing ? rows.length : SPARE_ROWS,
    scrollMargin: top,
    getItemKey: (index) => rowKey(rows[index]!),
  });
  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? -1;
  useLayoutEffect(() => {
    if (onEnd && !printing && lastShown >= rows.length - 1 && rows.length > 0) onEnd();
  }, [onEnd, printing, lastShown, rows.length]);

  const tracks = columns.map((one) => one.width).join(" ");
  const narrowTracks = columns
    .filter((one) => !one.wide)
    .map((one) => one.width)
    .join(" ");
  const place = (one: Column<Row>) =>
    clsx("min-w-0", one.wide && "hidden @3xl:block", one.align === "right" && "text-right");
  const grid =
    "grid items-center gap-x-4 px-4 [grid-template-columns:var(--narrow)] @3xl:[grid-template-columns:var(--wide)]";

  return (
    <div
      role="table"
      aria-label={label}
      aria-rowcount={total === undefined && onEnd ? -1 : (total ?? rows.length) + 1}
      ref={(node) => {
        node?.style.setProperty("--wide", tracks);
        node?.style.setProperty("--narrow", narrowTracks);
      }}
      aria-busy={outdated}
      className="@container overflow-clip rounded-xl border bg-surface shadow-card"
    >
      <div role="rowgroup" className="sticky top-0 z-10 border-b bg-surface">
        <div
          role="row"
          aria-rowindex={1}
          className={clsx(grid, "py-2 text-xs font-medium text-ink-3")}
        >
          {columns.map((one) => (
            <div
              role="columnheader"
              key={one.key}
              aria-sort={one.sort && one.sort === sort ? "descending" : undefined}
              className={place(one)}
            >
              {onSort && one.sort ? (
                <button
                  type="button"
                  onClick={() => onSort(one.sort!)}
                  className={clsx(
                    "inline-flex items-center gap-1 hover:text-ink",
                    one.sort === sort && "text-ink",
                  )}
                >
                  {one.title}
                  {one.sort === sort && <ArrowDown className="size-3" aria-hidden />}
                </button>
              ) : (
                <span className={clsx(one.quiet && "sr-only")}>{one.title}</span>
              )}
            </div>
          ))}
        </div>
      </div>
      <div
        role="rowgroup"
        ref={body}
        className="relative"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={moveFocus}
      >
        {items.map((item) => {
          const row = rows[item.index]!;
          const key = rowKey(row);
          return (
            <div
              role="row"
              key={key}
              data-index={item.index}
              aria-rowindex={item.index + 2}
              aria-selected={onOpen ? key === openKey : undefined}
              ref={virtual.measureElement}
              tabIndex={onOpen ? 0 : undefined}
              style={{ transform: `translateY(${item.start - top}px)` }}
              onClick={(event) => onOpen && !isControl(event.target) && onOpen(row)}
              onKeyDown={(event) => {
                if (event.target !== event.currentTarget) return;
                if (event.ctrlKey || event.metaKey || event.altKey) return;
                if (event.key === "Enter") onOpen?.(row);
                if (event.key === "x") choice?.toggle(key);
              }}
              className={clsx(
                grid,
                "absolute inset-x-0 top-0 border-b py-2.5 -outline-offset-2 last:border-b-0",
                onOpen && "cursor-pointer hover:bg-sunken",
                key === openKey && "bg-accent-soft hover:bg-accent-soft",
              )}
            >
              {columns.map((one) => (
                <div role="cell" key={one.key} className={place(one)}>
                  {one.cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Whether the page is being printed: then all rows that are here have to be in the document. */
function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    // At once: the browser takes the page as it is after the event.
    const begin = () => flushSync(() => setPrinting(true));
    const end = () => setPrinting(false);
    window.addEventListener("beforeprint", begin);
    window.addEventListener("afterprint", end);
    return () => {
      window.removeEventListener("beforeprint", begin);
      window.removeEventListener("afterprint", end);
    };
  }, []);
  return printing;
}

function boxes<Row>(rowKey: (row: Row) => string, choice: Choice<Row>): Column<Row> {
  return {
    key: "selected",
    title: "Select",
    quiet: true,
    width: "1rem",
    cell: (row) => (
      <SelectBox
        label={choice.name(row)}
        checked={choice.ids.has(rowKey(row))}
        onChange={() => choice.toggle(rowKey(row))}
      />
    ),
  };
}

/** Whether a click was meant for a link or button within the row, or selected some text. */
function isControl(target: EventTarget): boolean {
  const within =
    target instanceof Element && target.closest("a, button, input, label, select, summary");
  return Boolean(within) || window.getSelection()?.isCollapsed === false;
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const row = (event.target as Element).closest<HTMLElement>("[data-index]");
  const next = Number(row?.dataset["index"]) + (event.key === "ArrowDown" ? 1 : -1);
  const to = event.currentTarget.querySelector<HTMLElement>(`[data-index="${next}"]`);
  if (!to) return;
  event.preventDefault();
  to.focus();
}
