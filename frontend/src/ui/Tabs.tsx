import { Tabs as Radix } from "radix-ui";
import { useEffect, useRef, type ReactNode } from "react";

interface TabsProps<Name extends string> {
  label: string;
  value: Name;
  onChange: (value: Name) => void;
  tabs: readonly { name: Name; label: string; count?: number | undefined }[];
  /** Of the chosen tab. */
  children: ReactNode;
}

/** Tabs whose choice belongs to the caller: it lives in the URL. */
export function Tabs<Name extends string>({
  label,
  value,
  onChange,
  tabs,
  children,
}: TabsProps<Name>) {
  const list = useRef<HTMLDivElement>(null);
  // On a phone the tabs are wider than the window: the chosen one comes into sight.
  useEffect(() => {
    const chosen = list.current?.querySelector<HTMLElement>("[data-state=active]");
    if (!list.current || !chosen) return;
    const { left, width } = list.current.getBoundingClientRect();
    const middle = chosen.getBoundingClientRect().left + chosen.offsetWidth / 2;
    list.current.scrollLeft += middle - (left + width / 2);
  }, [value]);
  return (
    <Radix.Root value={value} onValueChange={(name) => onChange(name as Name)}>
      <Radix.List ref={list} aria-label={label} className="flex gap-1 overflow-x-auto border-b">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.name}
            value={tab.name}
            className="-mb-px flex items-center gap-1.5 border-b-2 border-transparent px-3 py-2 font-medium whitespace-nowrap text-ink-2 -outline-offset-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {tab.label}
            {tab.count !== undefined && (
              <span className="rounded-full bg-sunken px-1.5 text-xs text-ink-2 tabular-nums">
                {tab.count}
              </span>
            )}
          </Radix.Trigger>
        ))}
      </Radix.List>
      <Radix.Content value={value} className="pt-4 outline-none">
        {children}
      </Radix.Content>
    </Radix.Root>
  );
}
