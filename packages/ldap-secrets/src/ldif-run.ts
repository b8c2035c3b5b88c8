import { applyLdif, LdapError, resultCode, sameDn, type Connection, type LdifRecord } from '@strongroom/ldap-client';

/** The directory refused a record. */
export interface RefusedRecord {
  readonly record: LdifRecord;
  readonly error: LdapError;
}

/** Carries out records in order. @throws LdapError of the first that fails; `done` holds those before it. */
export async function runLdif(
  connection: Connection,
  records: readonly LdifRecord[],
  done: LdifRecord[],
  signal: AbortSignal,
): Promise<void> {
  for (const record of records) {
    await applyLdif(connection, record, { signal });
    done.push(record);
  }
}

/** Carries out records in order, past refusals, which are resolved with. @throws LdapError when the directory does not answer. */
export async function runLdifThrough(
  connection: Connection,
  records: readonly LdifRecord[],
  signal: AbortSignal,
): Promise<readonly RefusedRecord[]> {
  const refused: RefusedRecord[] = [];
  for (const record of records) {
    try {
      await applyLdif(connection, record, { signal });
    } catch (error) {
      if (!(error instanceof LdapError) || !error.answered) throw error;
      refused.push({ record, error });
    }
  }
  return refused;
}

const alreadyDone: ReadonlySet<unknown> = new Set([
  resultCode.noSuchObject,
  resultCode.noSuchAttribute,
  resultCode.attributeOrValueExists,
  resultCode.entryAlreadyExists,
]);

/** Whether the refusal means that an earlier try did it: deletions are retried, and must converge. */
export function wasDoneBefore({ error }: RefusedRecord): boolean {
  return alreadyDone.has(error.code);
}

/** The entries that may be there after a deletion was carried out: all but those that the directory has deleted, or did not have. */
export function notDeleted(
  entries: readonly string[],
  deletion: readonly LdifRecord[],
  refused: readonly RefusedRecord[],
): readonly string[] {
  // What is added or renamed on the way may have such a name again.
  if (deletion.some(({ type }) => type === 'add' || type === 'modrdn')) return entries;
  const there = new Set(refused.filter(({ error }) => error.code !== resultCode.noSuchObject).map(({ record }) => record));
  const gone = deletion.filter((record) => record.type === 'delete' && !there.has(record));
  return entries.filter((entry) => !gone.some(({ dn }) => dn === entry || sameDn(dn, entry)));
}

/** Deletes entries, the last one first; those that are gone are fine. @throws LdapError */
export async function deleteEntries(connection: Connection, dns: readonly string[], signal: AbortSignal): Promise<void> {
  for (const dn of [...dns].reverse()) {
    try {
      await connection.delete(dn, { signal });
    } catch (error) {
      if (!(error instanceof LdapError) || error.code !== resultCode.noSuchObject) throw error;
    }
  }
}

/** Those of the entries that are there. @throws LdapError */
export async function existingEntries(connection: Connection, dns: readonly string[], signal: AbortSignal): Promise<string[]> {
  const found: string[] = [];
  for (const dn of dns) {
    try {
      const entries = await connection.search({ base: dn, scope: 'base', attributes: ['1.1'], signal });
      if (entries.length > 0) found.push(dn);
    } catch (error) {
      if (!(error instanceof LdapError) || error.code !== resultCode.noSuchObject) throw error;
    }
  }
  return found;
}
