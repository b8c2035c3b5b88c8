/** A difference, as `plan` lists it. */
export interface PlanItem {
  readonly mount?: string;
  readonly secret_name?: string;
  readonly sub_key?: string;
  readonly remote_name: string;
  readonly remote_version?: string;
}

export interface Plan extends Readonly<Record<PlanList, readonly PlanItem[]>> {
  /** Of all, also those that the lists leave out. */
  readonly total: number;
  readonly in_sync: number;
}

export type PlanList = 'additions' | 'changes' | 'foreign_edits' | 'removals' | 'conflicts' | 'refused' | 'orphans';

export interface PlanRow extends PlanItem {
  readonly list: PlanList;
  readonly sign: '+' | '~' | '−' | '!' | '?';
  readonly what: string;
  /** What a reconciliation does. */
  readonly then: string;
  readonly willChange: boolean;
}

const LOOKS: Readonly<Record<PlanList, Pick<PlanRow, 'sign' | 'what' | 'then' | 'willChange'>>> = {
  foreign_edits: { sign: '~', what: 'edited outside', then: 'will be written', willChange: true },
  changes: { sign: '~', what: 'changed here', then: 'will be written', willChange: true },
  additions: { sign: '+', what: 'missing outside', then: 'will be written', willChange: true },
  removals: { sign: '−', what: 'unlinked here', then: 'will be removed', willChange: true },
  conflicts: { sign: '!', what: 'the name is taken by a secret that is not ours', then: 'unchanged', willChange: false },
  refused: { sign: '!', what: 'cannot be written: see the error of the copy', then: 'unchanged', willChange: false },
  orphans: { sign: '?', what: 'orphan: has the mark of this destination, and belongs to no link', then: 'unchanged', willChange: false },
};

/** The plan as lines of a diff; with `removeOrphans`, what a reconciliation that removes them does. */
export function rowsOf(plan: Plan, removeOrphans: boolean): PlanRow[] {
  return (Object.keys(LOOKS) as PlanList[]).flatMap((list) =>
    plan[list].map((item) => ({
      ...item,
      list,
      ...LOOKS[list],
      ...(list === 'orphans' && removeOrphans ? { sign: '−' as const, then: 'will be removed', willChange: true } : {}),
    })),
  );
}
