import clsx from "clsx";
import { X } from "lucide-react";
import { Toast as Radix } from "radix-ui";
import { Button, IconButton } from "@/ui/Button";
import { dismiss, useToasts } from "@/ui/toasts";

// Time enough to read it and to reach for Undo; it waits while the pointer or the focus is on it.
const SHOWN_MILLISECONDS = 8_000;

/** Where toasts appear; F8 takes the focus there. */
export default function Toasts() {
  const messages = useToasts();
  return (
    <Radix.Provider duration={SHOWN_MILLISECONDS} swipeDirection="right">
      {messages.map((one) => (
        <Radix.Root
          key={one.id}
          type={one.tone === "bad" ? "foreground" : "background"}
          onOpenChange={(open) => !open && dismiss(one.id)}
          className={clsx(
            "flex animate-appear items-center gap-3 rounded-lg border bg-raised py-2.5 pr-2 pl-4 shadow-raised",
            one.tone === "bad" && "border-bad",
          )}
        >
          <Radix.Title className="min-w-0 flex-1 break-words first-letter:uppercase">
            {one.text}
          </Radix.Title>
          {one.keep && (
            <Radix.Action asChild altText="Keep it as typed" onClick={one.keep}>
              <Button small>Keep it as typed</Button>
            </Radix.Action>
          )}
          {one.undo && (
            <Radix.Action asChild altText="Undo" onClick={one.undo}>
              <Button small>Undo</Button>
            </Radix.Action>
          )}
          <Radix.Close asChild>
            <IconButton label="Dismiss">
              <X />
            </IconButton>
          </Radix.Close>
        </Radix.Root>
      ))}
      {/* Above: what one writes in, sends, chooses and undoes with stands at the bottom, and a phone's menu in the
          first line. */}
      <Radix.Viewport className="fixed top-14 left-1/2 z-50 flex -translate-x-1/2 w-[min(24rem,calc(100vw-2rem))] flex-col gap-2 outline-none" />
    </Radix.Provider>
  );
}
