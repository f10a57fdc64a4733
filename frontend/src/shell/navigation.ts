import type { LinkProps } from "@tanstack/react-router";
import {
  BookOpenCheck,
  Bot,
  CalendarClock,
  Contact,
  FileDiff,
  History,
  Inbox,
  KeyRound,
  LayoutDashboard,
  MessageCircle,
  MessageCircleQuestionMark,
  MessagesSquare,
  NotebookPen,
  NotebookText,
  Quote,
  ReceiptText,
  Telescope,
  Waypoints,
  type LucideIcon,
} from "lucide-react";

export interface Entry {
  to: NonNullable<LinkProps["to"]>;
  title: string;
  icon: LucideIcon;
  /** Pressed after "g", it goes there. */
  key: string;
}

export interface Section {
  title: string;
  entries: readonly Entry[];
}

/** The pages that the sidebar, the palette and the shortcuts list. */
export const NAVIGATION: readonly Section[] = [
  {
    title: "Memory",
    entries: [
      { to: "/memory", title: "Overview", icon: LayoutDashboard, key: "o" },
      { to: "/memory/inbox", title: "Inbox", icon: Inbox, key: "c" },
      { to: "/memory/ask", title: "Ask", icon: MessageCircleQuestionMark, key: "a" },
      { to: "/memory/facts", title: "Facts", icon: Quote, key: "f" },
      { to: "/memory/rules", title: "Rules", icon: BookOpenCheck, key: "r" },
      { to: "/memory/entities", title: "Entities", icon: Contact, key: "i" },
      { to: "/memory/map", title: "Map", icon: Waypoints, key: "m" },
      { to: "/memory/episodes", title: "Episodes", icon: NotebookText, key: "e" },
      { to: "/memory/sessions", title: "Sessions", icon: MessagesSquare, key: "s" },
      { to: "/memory/timeline", title: "Timeline", icon: History, key: "l" },
      { to: "/memory/changes", title: "Changes", icon: FileDiff, key: "d" },
      { to: "/memory/recall", title: "Recall playground", icon: Telescope, key: "p" },
      { to: "/memory/contexts", title: "Contexts", icon: ReceiptText, key: "x" },
    ],
  },
  {
    title: "Agents",
    entries: [
      { to: "/butlers", title: "Butlers", icon: Bot, key: "b" },
      { to: "/chat", title: "Chat", icon: MessageCircle, key: "h" },
      { to: "/journal", title: "Journal", icon: NotebookPen, key: "n" },
    ],
  },
  {
    title: "Server",
    entries: [
      { to: "/jobs", title: "Jobs", icon: CalendarClock, key: "j" },
      { to: "/tokens", title: "Tokens", icon: KeyRound, key: "t" },
    ],
  },
];

export const ENTRIES: readonly Entry[] = NAVIGATION.flatMap((one) => one.entries);
