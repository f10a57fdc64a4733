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
  "transition-colors disabled:pointer-events-none disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0";

interface ButtonProps extends ComponentProps<"button"> {
  kind?: Kind;
  small?: boolean;
  /** The request of this button is under way: it cannot be pressed twice. */
  busy?: boolean;
}

/** What a link looks like that stands among buttons. */
export function buttonClass(kind: Kind = "secondary", small = false): string {
  return clsx(SHAPE, KINDS[kind], small ? "h-7 px-2 text-sm" : "h-8 px-3 text-base");
}

export function Button({ kind = "secondary", small, busy, className, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={busy || rest.disabled}
      aria-busy={busy || undefined}
      className={clsx(buttonClass(kind, small), className)}
    />
  );
}

interface IconButtonProps extends ComponentProps<"button"> {
  /** Read aloud, and shown as a tooltip by whoever wraps it in one. */
  label: string;
}

/** What a link looks like that stands among these. */
export const iconButtonClass = clsx(
  "inline-flex size-8 shrink-0 items-center justify-center rounded-md text-ink-2",
  "transition-colors hover:bg-sunken hover:text-ink disabled:opacity-50 [&_svg]:size-4",
);

export function IconButton({ label, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      {...rest}
      className={clsx(iconButtonClass, className)}
    />
  );
}
