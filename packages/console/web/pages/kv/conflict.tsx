import { Alert, Button, Group, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { SecretValue } from '../../parts/secret-value.tsx';
import { mergeOf, withMine, type Conflict } from './changes.ts';
import { pathText, valueText, type Leaf } from './leaves.ts';
import classes from './kv.module.css';

interface ConflictViewProps {
  /** What the changes began from. */
  readonly base: readonly Leaf[];
  readonly mine: readonly Leaf[];
  /** What stands in the store now. */
  readonly theirs: readonly Leaf[];
  /** What theirs is: `version 4`. */
  readonly name: string;
  readonly settle: (leaves: readonly Leaf[]) => void;
  readonly back: () => void;
}

/** Somebody else saved first. Shows both sides of what both changed, and takes over everything else of both. */
export function ConflictView({ base, mine, theirs, name, settle, back }: ConflictViewProps) {
  const { merged, conflicts } = mergeOf(base, mine, theirs);
  const [ofMine, setOfMine] = useState<ReadonlySet<string>>(new Set());
  const choose = (key: string, isMine: boolean): void => {
    const next = new Set(ofMine);
    if (isMine) next.add(key);
    else next.delete(key);
    setOfMine(next);
  };
  return (
    <Stack>
      <Alert role="alert" color="yellow" variant="light" title="Somebody else saved this secret while you edited it">
        {conflicts.length === 0
          ? `Nothing that you changed was changed in ${name} as well: both changes go together.`
          : `Choose what is to stand for ${conflicts.length === 1 ? 'the value' : `the ${conflicts.length} values`} that both of you changed. All other changes of both go together.`}
      </Alert>
      {conflicts.length > 0 && (
        <div className={classes.values} role="region" aria-label="Values that both changed" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">Before</th>
                <th scope="col">Yours</th>
                <th scope="col">{name}</th>
              </tr>
            </thead>
            <tbody>
              {conflicts.map((conflict) => {
                const key = JSON.stringify(conflict.path);
                const isMine = ofMine.has(key);
                return (
                  <tr key={key}>
                    <th scope="row">{pathText(conflict.path)}</th>
                    <td data-title="Before">
                      <Side conflict={conflict} of="base" name="the version before" />
                    </td>
                    <td data-title="Yours">
                      <Radio label="Take yours" name={key} checked={isMine} onChange={() => choose(key, true)} />
                      <Side conflict={conflict} of="mine" name="yours" />
                    </td>
                    <td data-title={name}>
                      <Radio label={`Take ${name}`} name={key} checked={!isMine} onChange={() => choose(key, false)} />
                      <Side conflict={conflict} of="theirs" name={name} />
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      <Group>
        <Button
          onClick={() =>
            settle(
              withMine(
                merged,
                conflicts.filter(({ path }) => ofMine.has(JSON.stringify(path))),
              ),
            )
          }
        >
          Review the result
        </Button>
        <Button variant="default" onClick={back}>
          Back to your changes
        </Button>
      </Group>
    </Stack>
  );
}

function Side({ conflict, of, name }: { readonly conflict: Conflict; readonly of: 'base' | 'mine' | 'theirs'; readonly name: string }) {
  const leaf = conflict[of];
  return leaf ? (
    <SecretValue label={`${pathText(conflict.path)} in ${name}`} value={valueText(leaf.value)} />
  ) : (
    <Text c="dimmed">not there</Text>
  );
}
