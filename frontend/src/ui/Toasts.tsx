import clsx from "clsx";
import { X } from "lucide-react";
import { Toast as Radix } from "radix-ui";
import { useRef } from "react";
import { Button, IconButton } from "@/ui/Button";
import { leaveEscape } from "@/ui/escape";
import { focusBehind } from "@/ui/focus";
import { dismiss, useToasts } from "@/ui/toasts";

// Time enough to read it and to reach for Undo; it waits while the pointer or the focus is on it.
const SHOWN_MILLISECONDS = 8_000;

/** Where toasts appear; F8 takes the focus there. */
export default function Toasts() {
  const messages = useToasts();
  const list = useRef<HTMLOListElement>(null);
  return (
    <Radix.Provider duration={SHOWN_MILLISECONDS} swipeDirection="right">
      {messages.map((one) => (
        <Radix.Root
          key={one.id}
          type={one.tone === "bad" ? "foreground" : "background"}
          // What can be tried again may have to wait for the server.
          {...(one.tone === "bad" && one.acts.length > 0 && { duration: Infinity })}
          onOpenChange={(open) => {
            if (open) return;
            // Radix has moved it to the list, where it would be lost with the last toast.
            if (document.activeElement === list.current) focusBehind();
            dismiss(one.id);
          }}
          onEscapeKeyDown={leaveEscape}
          className={clsx(
            "flex animate-appear items-center gap-3 rounded-lg border bg-raised py-2.5 pr-2 pl-4 shadow-raised",
            one.tone === "bad" && "border-bad",
          )}
        >
          <Radix.Title className="min-w-0 flex-1 break-words first-letter:uppercase">
            {one.text}
          </Radix.Title>
          {one.acts.map(({ name, act }) => (
            <Radix.Action key={name} asChild altText={name} onClick={act}>
              <Button small busy={false}>
                {name}
              </Button>
            </Radix.Action>
          ))}
          <Radix.Close asChild>
            <IconButton label="Dismiss">
              <X />
            </IconButton>
          </Radix.Close>
        </Radix.Root>
      ))}
      {/* At the bottom, where a drawer has no buttons; above where one writes and sends at the bottom. */}
      <Radix.Viewport
        ref={list}
        className="on-screen fixed right-4 bottom-4 z-50 flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2 outline-none in-[:root:has([data-composer])]:top-14 in-[:root:has([data-composer])]:bottom-auto"
      />
    </Radix.Provider>
  );
}
