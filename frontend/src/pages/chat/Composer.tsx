import { ImagePlus, Pin, SendHorizontal, Square, CalendarPlus, X } from "lucide-react";
import { useRef, useState, type KeyboardEvent } from "react";
import { pictureOf } from "@/pages/chat/picture";
import { keepItem } from "@/pages/journal/corrections";
import { useChange, useUnsaved } from "@/shell/change";
import { Button, IconButton } from "@/ui/Button";
import { toastError } from "@/ui/toasts";

interface ComposerProps {
  companion: string;
  busy: boolean;
  /** What one said last, as it was shown, for the arrow up. */
  last: string | undefined;
  /** Whether the message was kept. */
  onSend: (text: string, picture: string | undefined) => Promise<boolean>;
  onStop: () => void;
}

/** The box that one types in: Enter sends, Shift+Enter is a new line, Esc stops the reply. */
export function Composer({ companion, busy, last, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState("");
  const [picture, setPicture] = useState<string>();
  const files = useRef<HTMLInputElement>(null);
  const change = useChange();
  const attach = (file: File | undefined | null) => {
    if (file) pictureOf(file).then(setPicture, toastError);
  };
  const isEmpty = !text.trim() && picture === undefined;
  useUnsaved(!isEmpty);
  const send = async () => {
    if (busy || isEmpty) return;
    // At once, for the next words may be typed while this is on its way.
    setText("");
    setPicture(undefined);
    if (await onSend(text, picture)) return;
    setText((now) => (now ? `${text}\n${now}` : text));
    setPicture((now) => now ?? picture);
  };
  const keep = (type: "pin" | "plan") => {
    const kept = text.trim();
    change.mutate(keepItem(companion, type, kept), () =>
      setText((now) => (now.trim() === kept ? "" : now)),
    );
  };
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void send();
    } else if (event.key === "Escape" && busy) {
      event.preventDefault();
      onStop();
    } else if (event.key === "ArrowUp" && text === "" && last) {
      event.preventDefault();
      setText(last);
    }
  };
  return (
    <div className="sticky bottom-0 z-10 -mx-1 bg-canvas px-1 pt-2 pb-3">
      {picture !== undefined && (
        <div className="mb-2 flex items-start gap-1">
          <img src={picture} alt="To be sent" className="max-h-24 rounded-md border" />
          <IconButton label="Remove the picture" onClick={() => setPicture(undefined)}>
            <X />
          </IconButton>
        </div>
      )}
      <textarea
        data-composer
        aria-label="Message"
        placeholder="Say something"
        data-slash
        rows={Math.min(8, Math.max(2, text.split("\n").length))}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKey}
        onPaste={(event) => {
          const file = [...event.clipboardData.files].find((one) => one.type.startsWith("image/"));
          if (!file) return;
          event.preventDefault();
          attach(file);
        }}
        className="w-full resize-none rounded-lg border border-line-strong bg-surface px-3 py-2 text-base leading-6 text-ink placeholder:text-ink-3"
      />
      <div className="mt-1.5 flex flex-wrap items-center gap-2">
        <input
          ref={files}
          type="file"
          aria-label="Picture to attach"
          accept="image/png,image/jpeg,image/webp,image/gif"
          className="hidden"
          onChange={(event) => {
            attach(event.target.files?.[0]);
            event.target.value = "";
          }}
        />
        <Button small kind="quiet" onClick={() => files.current?.click()}>
          <ImagePlus /> Picture
        </Button>
        <Button
          small
          kind="quiet"
          title="Keep this in mind for weeks; nobody answers"
          disabled={!text.trim() || change.isPending}
          onClick={() => keep("pin")}
        >
          <Pin /> Pin
        </Button>
        <Button
          small
          kind="quiet"
          title="Keep this as a plan, such as: water the garden tomorrow at 9am"
          disabled={!text.trim() || change.isPending}
          onClick={() => keep("plan")}
        >
          <CalendarPlus /> Remind
        </Button>
        <span className="ml-auto">
          {busy ? (
            <Button onClick={onStop}>
              <Square /> Stop
            </Button>
          ) : (
            <Button kind="primary" disabled={isEmpty} onClick={() => void send()}>
              <SendHorizontal /> Send
            </Button>
          )}
        </span>
      </div>
    </div>
  );
}
