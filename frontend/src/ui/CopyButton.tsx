import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "@/ui/Button";

// Long enough to be seen.
const TOLD_MILLISECONDS = 1_500;

interface CopyButtonProps {
  text: string;
  /** What is copied, for a reader of the screen, where several such buttons stand together. */
  what?: string;
}

/** Puts a text on the clipboard, and says that it did. */
export function CopyButton({ text, what }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  // A browser has one for pages of this machine and over https alone.
  if (!("clipboard" in navigator)) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    window.setTimeout(() => setCopied(false), TOLD_MILLISECONDS);
  };
  return (
    <Button
      small
      kind="quiet"
      className="-my-1"
      onClick={() => void copy()}
      disabled={!text}
      aria-live="polite"
    >
      {copied ? <Check /> : <Copy />} {copied ? "Copied" : "Copy"}
      {what && <span className="sr-only"> {what}</span>}
    </Button>
  );
}
