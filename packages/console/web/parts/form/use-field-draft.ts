import { useDraft } from '../use-draft.ts';
import type { Draft } from './form-values.ts';

const NOTHING: Draft = {};

/** What is typed in the fields of a form; `type` with undefined takes back what was typed in a field. */
export function useFieldDraft(form: string) {
  const drafted = useDraft<Draft>(form, NOTHING);
  const type = (name: string, typed: Draft[string] | undefined): void => {
    const { [name]: _before, ...others } = drafted.draft;
    if (typed !== undefined) drafted.change({ ...others, [name]: typed });
    else if (Object.keys(others).length > 0) drafted.change(others);
    else drafted.drop();
  };
  return { ...drafted, type };
}
