import clsx from "clsx";
import type { ComponentProps } from "react";

type Kind = "primary" | "secondary" | "quiet" | "danger";

const KINDS: Record<Kind, string> = {
  primary: "bg-accent text-on-accent hover:bg-accent-hover",
  secondary: "border border-line-strong bg-surface text-ink hover:bg-sunken",
  quiet: "text-ink-2 hover:bg-sunken hover:text-ink",
  danger: "border border-line-strong bg-surface text-bad-ink hover:bg-bad-soft",
};

const SHAPE =
  "inline-flex items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap " +
  "transition-colors disabled:pointer-events-none disabled:opacity-50 " +
  "aria-disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0";

interface Pressed extends ComponentProps<"button"> {
  /**
   * Whether the request of this button is under way; false, too, says that it makes one. It cannot be
   * pressed twice: not while it is busy, and not by a double click, whose second may come before that
   * shows, or meet another button that took its place.
   */
  busy?: boolean | undefined;
}

interface ButtonProps extends Pressed {
  kind?: Kind;
  small?: boolean;
}

/** What a button is, whatever it looks like. */
function pressed({ busy, onClick, ...rest }: Pressed): ComponentProps<"button"> {
  return {
    type: "button",
    ...rest,
    // Not `disabled`: whoever presses it with a key would lose their place.
    "aria-disabled": busy || undefined,
    "aria-busy": busy || undefined,
    onClick: (event) => {
      // Prevented, as it may be the button of a form.
      if (busy || (busy !== undefined && event.detail > 1)) event.preventDefault();
      else onClick?.(event);
    },
  };
}

/** What a link looks like that stands among buttons. */
export function buttonClass(kind: Kind = "secondary", small = false): string {
  return clsx(SHAPE, KINDS[kind], small ? "h-7 px-2 text-sm" : "h-8 px-3 text-base");
}

export function Button({ kind = "secondary", small, className, ...rest }: ButtonProps) {
  return <button {...pressed(rest)} className={clsx(buttonClass(kind, small), className)} />;
}

interface IconButtonProps extends Pressed {
  /** Read aloud, and shown as a tooltip by whoever wraps it in one. */
  label: string;
}

/** What a link looks like that stands among these. */
export const iconButtonClass = clsx(
  "inline-flex size-8 shrink-0 items-center justify-center rounded-md text-ink-2",
  "transition-colors hover:bg-sunken hover:text-ink disabled:opacity-50",
  "aria-disabled:opacity-50 [&_svg]:size-4",
);

export function IconButton({ label, className, ...rest }: IconButtonProps) {
  return (
    <button aria-label={label} {...pressed(rest)} className={clsx(iconButtonClass, className)} />
  );
}
