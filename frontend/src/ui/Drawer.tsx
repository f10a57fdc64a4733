import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { IconButton } from "@/ui/Button";
import { onEscapeLeft } from "@/ui/escape";
import { keepFocus, useFocusReturn } from "@/ui/focus";

interface DrawerProps {
  onClose: () => void;
  title: ReactNode;
  /** Above the title: what kind of thing this is. */
  kicker: string;
  /** At the right of the title bar. */
  actions?: ReactNode;
  children: ReactNode;
}

/**
 * One thing in detail, at the right edge. Not modal: the list behind it stays usable, and choosing
 * another row there changes what is shown.
 */
export function Drawer({ onClose, title, kicker, actions, children }: DrawerProps) {
  const returnFocus = useFocusReturn();
  return (
    <Radix.Root open modal={false} onOpenChange={(now) => !now && onClose()}>
      <Radix.Portal>
        <Radix.Content
          ref={keepFocus}
          aria-describedby={undefined}
          onKeyDown={onEscapeLeft(onClose)}
          onCloseAutoFocus={returnFocus}
          onInteractOutside={(event) => event.preventDefault()}
          onOpenAutoFocus={(event) => {
            // The drawer itself, so that reading begins at its title and not at its close button.
            event.preventDefault();
            (event.currentTarget as HTMLElement).focus();
          }}
          className="fixed inset-y-0 right-0 z-30 flex w-full animate-slide flex-col border-l bg-raised shadow-raised outline-none sm:w-[36rem]"
        >
          <header className="flex items-start gap-2 border-b px-5 py-4">
            <div className="min-w-0 flex-1">
              <p className="line-clamp-2 text-xs font-medium text-ink-3">{kicker}</p>
              <Radix.Title className="memory-text mt-0.5 line-clamp-3 text-lg font-semibold">
                {title}
              </Radix.Title>
            </div>
            {actions}
            <Radix.Close asChild>
              <IconButton label="Close">
                <X />
              </IconButton>
            </Radix.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 py-5">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
