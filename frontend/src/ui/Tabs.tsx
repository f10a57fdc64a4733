import { useEffect, useId, useRef, type KeyboardEvent, type ReactNode } from "react";

interface TabsProps<Name extends string> {
  label: string;
  value: Name;
  onChange: (value: Name) => void;
  tabs: readonly { name: Name; label: string; count?: number | undefined }[];
  /** Of the chosen tab. */
  children: ReactNode;
}

/**
 * Tabs whose choice belongs to the caller: it lives in the URL. The arrow keys, Home and End choose, as
 * the ARIA practices have it; Radix's would bring 10 KB to the first page of half the dashboard.
 */
export function Tabs<Name extends string>({
  label,
  value,
  onChange,
  tabs,
  children,
}: TabsProps<Name>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  // On a phone the tabs are wider than the window: the chosen one comes into sight.
  useEffect(() => {
    const chosen = list.current?.querySelector<HTMLElement>("[aria-selected=true]");
    if (!list.current || !chosen) return;
    const { left, width } = list.current.getBoundingClientRect();
    const middle = chosen.getBoundingClientRect().left + chosen.offsetWidth / 2;
    list.current.scrollLeft += middle - (left + width / 2);
  }, [value]);
  function turn(event: KeyboardEvent<HTMLDivElement>): void {
    // Alt with an arrow is the browser's Back.
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const from = tabs.findIndex((one) => one.name === value);
    const to = tabs[target(event.key, from, tabs.length)];
    if (!to) return;
    event.preventDefault();
    document.getElementById(`${id}${to.name}`)?.focus();
    onChange(to.name);
  }
  return (
    <>
      <div
        ref={list}
        role="tablist"
        aria-label={label}
        onKeyDown={turn}
        className="flex gap-1 overflow-x-auto border-b"
      >
        {tabs.map((tab) => (
          <button
            key={tab.name}
            id={`${id}${tab.name}`}
            type="button"
            role="tab"
            aria-selected={tab.name === value}
            aria-controls={`${id}panel`}
            tabIndex={tab.name === value ? 0 : -1}
            onClick={() => onChange(tab.name)}
            className="-mb-px flex items-center gap-1.5 border-b-2 border-transparent px-3 py-2 font-medium whitespace-nowrap text-ink-2 -outline-offset-2 hover:text-ink aria-selected:border-accent aria-selected:text-ink"
          >
            {tab.label}
            {tab.count !== undefined && (
              <span className="rounded-full bg-sunken px-1.5 text-xs text-ink-2 tabular-nums">
                {tab.count}
              </span>
            )}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}panel`} aria-labelledby={`${id}${value}`} className="pt-4">
        {children}
      </div>
    </>
  );
}

/** Which of `length` tabs a key leads to from the one at `from`; -1 where it leads nowhere. */
function target(key: string, from: number, length: number): number {
  switch (key) {
    case "ArrowLeft":
      return (from + length - 1) % length;
    case "ArrowRight":
      return (from + 1) % length;
    case "Home":
      return 0;
    case "End":
      return length - 1;
    default:
      return -1;
  }
}
