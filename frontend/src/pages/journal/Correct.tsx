import { Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { editItem, forgetItem } from "@/pages/journal/corrections";
import type { WorkingItem } from "@/pages/journal/queries";
import { useChange, useUnsaved } from "@/shell/change";
import { Button, IconButton } from "@/ui/Button";
import { TextArea } from "@/ui/Field";

/** What an item says, to be changed or dropped; a secret's text is not shown, and so not changed. */
export function Correct({ companion, item }: { companion: string; item: WorkingItem }) {
  const change = useChange();
  const [text, setText] = useState<string>();
  const named = item.type === "secret" ? "the secret" : item.content;
  const leave = useUnsaved(text !== undefined && text !== item.content, change.isPending);
  const close = () => setText(undefined);
  const save = () => {
    if (change.isPending) return;
    const now = text?.trim();
    if (now && now !== item.content) change.mutate(editItem(companion, item.id, now), close);
    else close();
  };
  if (text !== undefined)
    return (
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <TextArea
          aria-label={`New text of ${named}`}
          autoFocus
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") leave(close);
            else if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
              event.preventDefault();
              save();
            }
          }}
          className="min-h-16 w-full"
        />
        <div className="mt-1.5 flex gap-2">
          <Button small kind="primary" type="submit" busy={change.isPending}>
            Save
          </Button>
          <Button small kind="quiet" disabled={change.isPending} onClick={() => leave(close)}>
            Cancel
          </Button>
        </div>
      </form>
    );
  return (
    <div className="flex items-start gap-1">
      <p className={`memory-text min-w-0 flex-1 pt-1 ${item.hidden ? "text-ink-3" : ""}`}>
        {item.content}
      </p>
      {item.type !== "secret" && (
        <IconButton
          label={`Edit: ${named}`}
          disabled={change.isPending}
          onClick={() => setText(item.content)}
        >
          <Pencil />
        </IconButton>
      )}
      <IconButton
        label={`Drop: ${named}`}
        busy={change.isPending}
        onClick={() => change.mutate(forgetItem(companion, item.id))}
      >
        <Trash2 />
      </IconButton>
    </div>
  );
}
