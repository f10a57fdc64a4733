import type { Schemas } from "@/api/client";
import { EditConflict, type Difference } from "@/memory/EditConflict";
import { EditForm } from "@/memory/EditForm";
import { differencesOf, useEditing } from "@/memory/editing";
import { tagsOf } from "@/memory/tags";
import { editRule, type RuleChanges } from "@/pages/rules/changes";
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
  const editing = useEditing({ draftOf, changesOf, edit: editRule }, rule, revision, onDone);
  const { draft, type, stale, save } = editing;

  if (stale)
    return (
      <EditConflict
        differences={differences(draft, rule, stale.current)}
        busy={editing.isSaving}
        onTheirs={onDone}
        onMine={() => save(stale.current, stale.revision)}
      />
    );
  return (
    <EditForm label="Edit this rule" editing={editing} onCancel={onDone}>
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
    </EditForm>
  );
}

/** A rule as the form has it: what is typed, to the letter. */
interface Draft {
  content: string;
  scope: string;
  tags: string;
}

const NAMES: Record<keyof Draft, string> = { content: "Rule", scope: "Scope", tags: "Tags" };

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
  const versions = { mine: draft, began: draftOf(began), theirs: draftOf(theirs) };
  const found = differencesOf(NAMES, versions);
  // Somebody may have moved it by hand and left its text alone.
  return began.maturity === theirs.maturity
    ? found
    : [...found, { name: "Maturity", theirs: theirs.maturity, mine: "candidate" }];
}
