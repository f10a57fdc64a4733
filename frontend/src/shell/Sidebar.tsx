import { Link } from "@tanstack/react-router";
import { CircleHelp, Search } from "lucide-react";
import icon from "@/icon.svg";
import { NAVIGATION } from "@/shell/navigation";
import { keptPast, showsPast } from "@/shell/past";
import { openPalette } from "@/shell/palette";
import { Key } from "@/ui/Key";
import { ThemeToggle } from "@/shell/ThemeToggle";
import { SignedIn } from "@/shell/SignedIn";
import { IconButton } from "@/ui/Button";

interface SidebarProps {
  onHelp: () => void;
  /** Told when a page was chosen: on a phone the menu closes. */
  onChoose?: () => void;
}

export function Sidebar({ onHelp, onChoose }: SidebarProps) {
  return (
    <div className="flex h-full flex-col gap-5 px-3 py-4">
      <Link to="/memory" onClick={onChoose} className="flex items-center gap-2.5 rounded-md px-2">
        <img src={icon} alt="" width={24} height={24} />
        <span className="font-semibold tracking-tight">Memory Butler</span>
      </Link>
      <button
        type="button"
        onClick={() => {
          onChoose?.();
          openPalette();
        }}
        className="flex h-8 items-center gap-2 rounded-md border border-line-strong bg-surface px-2.5 text-ink-3 hover:text-ink-2"
      >
        <Search className="size-4" aria-hidden />
        <span className="flex-1 text-left">Search</span>
        <Key>{/Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘K" : "Ctrl K"}</Key>
      </button>
      <nav aria-label="Pages" className="min-h-0 flex-1 space-y-5 overflow-y-auto">
        {NAVIGATION.map((section) => (
          <div key={section.title}>
            <p className="mb-1 px-2 text-xs font-medium text-ink-3">{section.title}</p>
            <ul className="space-y-px">
              {section.entries.map(({ to, title, icon: Icon }) => (
                <li key={to}>
                  <Link
                    to={to}
                    search={(now) => (showsPast(to) ? keptPast(now) : {})}
                    onClick={onChoose}
                    activeOptions={{ exact: to === "/memory", includeSearch: false }}
                    activeProps={{
                      className: "bg-line/60 font-medium text-ink [&_svg]:text-accent-ink",
                    }}
                    inactiveProps={{ className: "text-ink-2 hover:bg-sunken hover:text-ink" }}
                    className="flex h-8 items-center gap-2.5 rounded-md px-2"
                  >
                    <Icon className="size-4" aria-hidden />
                    {title}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="flex items-center gap-1">
        <ThemeToggle />

        <IconButton label="Keyboard shortcuts" title="Keyboard shortcuts" onClick={onHelp}>
          <CircleHelp />
        </IconButton>

        <SignedIn />
      </div>
    </div>
  );
}
