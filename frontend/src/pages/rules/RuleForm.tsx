import { useState, type FormEvent } from "react";
import type { Schemas } from "@/api/client";
import { staleOf, type Stale } from "@/api/problem";
import { EditConflict, type Difference } from "@/memory/EditConflict";
import { tagsOf } from "@/memory/tags";
import { editRule, type RuleChanges } from "@/pages/rules/changes";
import { useChange } from "@/shell/change";
import { Button } from "@/ui/Button";
import { Field, Input, TextArea } from "@/ui/Field";

type Rule = Schemas["StatedRule"];

interface RuleFormProps {
  /** The rule as it was when editing began. */
  rule: Rule;
  revision: string;
  onDone: () => void;
}

/** Gives a rule another text, scope or tags; of two who do so at once, the second chooses. */
export function RuleForm({ rule, revision, onDone }: RuleFormProps) {
  const [draft, setDraft] = useState(() => draftOf(rule));
  const [stale, setStale] = useState<Stale<Rule>>();
  const [refusal, setRefusal] = useState<string>();
  const change = useChange((error) => {
    const found = staleOf<Rule>(error);
    setStale(found);
    setRefusal(found ? undefined : error.message);
  });
  const changes = changesOf(draft, rule);
  const isChanged = Object.keys(changes).length > 0;
  const type = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }));
  const save = (onto: Rule, expected: string) =>
    change.mutate(editRule(onto, expected, changes), { onSuccess: onDone });

  if (stale)
    return (
      <EditConflict
        differences={differences(draft, rule, stale.current)}
        busy={change.isPending}
        onTheirs={onDone}
        onMine={() => save(stale.current, stale.revision)}
      />
    );
  return (
    <form
      aria-label="Edit this rule"
      className="space-y-4"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        if (isChanged) save(rule, revision);
      }}
    >
      <Field label="Rule" hint="What to do, and when.">
        <TextArea
          autoFocus
          required
          value={draft.content}
          onChange={(event) => type({ content: event.target.value })}
        />
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Scope" hint="“global”, or the one butler that it is for.">
          <Input
            required
            value={draft.scope}
            onChange={(event) => type({ scope: event.target.value })}
          />
        </Field>
        <Field label="Tags" hint="With commas between them.">
          <Input value={draft.tags} onChange={(event) => type({ tags: event.target.value })} />
        </Field>
      </div>
      <p className="text-sm text-ink-2">
        Saving makes it a candidate again, which keeps its counts: a rule that says something else
        must earn its maturity anew.
      </p>
      {refusal && (
        <p role="alert" className="text-sm text-bad-ink">
          {refusal}
        </p>
      )}
      <div className="flex items-center justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" kind="primary" disabled={!isChanged} busy={change.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}

/** A rule as the form has it: what is typed, to the letter. */
interface Draft {
  content: string;
  scope: string;
  tags: string;
}

const NAMES: Record<keyof Draft, string> = { content: "Rule", scope: "Scope", tags: "Tags" };
const FIELDS = Object.keys(NAMES) as (keyof Draft)[];

function draftOf(rule: Rule): Draft {
  return { content: rule.content, scope: rule.scope, tags: rule.tags.join(", ") };
}

function changesOf(draft: Draft, rule: Rule): RuleChanges {
  const before = draftOf(rule);
  return {
    ...(draft.content !== before.content && { content: draft.content }),
    ...(draft.scope !== before.scope && { scope: draft.scope }),
    ...(draft.tags !== before.tags && { tags: tagsOf(draft.tags) }),
  };
}

function differences(draft: Draft, began: Rule, theirs: Rule): Difference[] {
  const [before, now] = [draftOf(began), draftOf(theirs)];
  const found = FIELDS.filter(
    (name) => draft[name] !== before[name] || now[name] !== before[name],
  ).map((name) => ({
    name: NAMES[name],
    theirs: now[name],
    mine: draft[name] === before[name] ? now[name] : draft[name],
  }));
  // Somebody may have moved it by hand and left its text alone.
  return began.maturity === theirs.maturity
    ? found
    : [...found, { name: "Maturity", theirs: theirs.maturity, mine: "candidate" }];
}
