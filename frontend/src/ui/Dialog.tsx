import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { IconButton } from "@/ui/Button";
import { onEscapeLeft } from "@/ui/escape";
import { useFocusReturn } from "@/ui/focus";

interface DialogProps {
  onClose: () => void;
  title: string;
  children: ReactNode;
  /** Buttons, the main one last. */
  actions?: ReactNode;
  /** What was agreed to is being done: it can be neither closed nor called off. */
  busy?: boolean | undefined;
  /** What would be lost: a click beside it does not close it, nor does Esc where it is a secret. */
  holds?: "typed" | "secret";
}

/** A question that must be answered first: it takes the focus and gives it back. */
export function Dialog({ onClose, title, children, actions, busy, holds }: DialogProps) {
  const returnFocus = useFocusReturn();
  const close = () => !busy && onClose();
  return (
    <Radix.Root open onOpenChange={(now) => !now && close()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 animate-appear bg-veil" />
        <Radix.Content
          aria-describedby={undefined}
          onCloseAutoFocus={returnFocus}
          onInteractOutside={(event) => holds && event.preventDefault()}
          onKeyDown={onEscapeLeft(() => holds !== "secret" && close())}
          onEscapeKeyDown={(event) => holds === "secret" && event.preventDefault()}
          className="fixed top-1/2 left-1/2 z-40 max-h-[85dvh] w-[min(34rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 animate-appear overflow-y-auto rounded-xl border bg-raised p-6 shadow-raised outline-none"
        >
          <Radix.Title className="pr-8 text-lg font-semibold">{title}</Radix.Title>
          <div className="mt-3">{children}</div>
          {actions && <div className="mt-6 flex justify-end gap-2">{actions}</div>}
          <Radix.Close asChild>
            <IconButton label="Close" className="absolute top-4 right-4">
              <X />
            </IconButton>
          </Radix.Close>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
