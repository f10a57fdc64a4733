import { useState } from "react";
import { Button } from "@/ui/Button";
import { Section } from "@/ui/Section";

// What the title of a drawer holds in its three lines.
const FITS_TITLE = 180;
// Of a text of any length, before one asks for all of it.
const SHOWN = 1_200;

/** The whole of what a memory says, where the title of its drawer cannot hold it. */
export function LongText({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  if (text.length <= FITS_TITLE && !text.includes("\n")) return null;
  const isCut = !all && text.length > SHOWN;
  return (
    <Section title="In full">
      <p className="memory-text">{isCut ? `${text.slice(0, SHOWN)}…` : text}</p>
      {text.length > SHOWN && (
        <Button small kind="quiet" className="mt-2" onClick={() => setAll((now) => !now)}>
          {all ? "Show less" : `Show all ${text.length.toLocaleString("en")} characters`}
        </Button>
      )}
    </Section>
  );
}
