import { Dialog as Radix } from "radix-ui";
import { Sidebar } from "@/shell/Sidebar";
import { useFocusReturn } from "@/ui/focus";

interface PhoneMenuProps {
  onClose: () => void;
  onHelp: () => void;
}

/** The sidebar of a narrow window. */
export default function PhoneMenu({ onClose, onHelp }: PhoneMenuProps) {
  const returnFocus = useFocusReturn();
  return (
    <Radix.Root open onOpenChange={(now) => !now && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 animate-appear bg-veil" />
        <Radix.Content
          aria-describedby={undefined}
          onCloseAutoFocus={returnFocus}
          className="fixed inset-y-0 left-0 z-40 w-64 animate-appear border-r bg-canvas outline-none"
        >
          <Radix.Title className="sr-only">Menu</Radix.Title>
          <Sidebar onHelp={onHelp} onChoose={onClose} />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
