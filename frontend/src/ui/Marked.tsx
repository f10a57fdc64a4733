import { Fragment } from "react";

// Small words of questions: marked, they would hide the words that matter.
const SMALL = new Set(
  (
    "a about an and any are as at be by can did do does for from had has have her his how i in is it " +
    "its me my of on or our she that the their them they this to was we were what when where which " +
    "who whom whose why will with would you your"
  ).split(" "),
);
const WORD = /[\p{L}\p{N}]+/gu;
const ENDING = /(ies|ing|ed|es|s|e|y)$/;
const LEAST_LETTERS = 3;

interface MarkedProps {
  text: string;
  /** What was asked for. */
  query: string;
}

/** A text with the words of a question marked, whatever their ending. */
export function Marked({ text, query }: MarkedProps) {
  const wanted = new Set(wordsOf(query).map(stem));
  if (wanted.size === 0) return text;
  const parts = text.split(/([\p{L}\p{N}]+)/u);
  return parts.map((part, place) =>
    // Words stand at the odd places.
    place % 2 === 1 && wanted.has(stem(part.toLowerCase())) ? (
      <mark key={place}>{part}</mark>
    ) : (
      <Fragment key={place}>{part}</Fragment>
    ),
  );
}

function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(WORD) ?? []).filter((one) => !SMALL.has(one));
}

function stem(word: string): string {
  const short = word.replace(ENDING, "");
  return short.length >= LEAST_LETTERS ? short : word;
}
