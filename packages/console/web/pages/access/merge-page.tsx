import { NativeSelect, Radio, Stack, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { makeStale, useNames, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import classes from './access.module.css';
import { useRecords, type Entity, type Group } from './identity.ts';
import { mergePlan } from './merge-plan.ts';

/** Makes one entity of two: shows what moves, what is lost, and asks which of two aliases stays. */
export default function MergePage() {
  const { search } = usePlace();
  const names = useNames('identity/entity/id');
  const [from, setFrom] = useState(search.from ?? '');
  const [to, setTo] = useState(search.to ?? '');
  const source = useRead<Entity>(apiPath('identity/entity/id', from || '-'), { enabled: from !== '' });
  const target = useRead<Entity>(apiPath('identity/entity/id', to || '-'), { enabled: to !== '' });
  const choices = (names.data?.pages ?? []).flatMap(({ keys, keyInfo }) =>
    keys.map((id) => ({ value: id, label: (keyInfo[id]?.name as string | undefined) ?? id })),
  );
  const data = [{ value: '', label: 'Choose an entity' }, ...choices];
  return (
    <Page
      title="Merge entities"
      crumbs={[
        <To key="all" to="/access/entities">
          Entities
        </To>,
      ]}
    >
      <Text size="sm" c="dimmed" mb="md">
        One person with two entities becomes one. The first entity ends: its aliases and memberships go to the second, its tokens go on as
        those of the second.
      </Text>
      <div className={classes.form}>
        <NativeSelect label="The entity that ends" data={data} value={from} onChange={(event) => setFrom(event.currentTarget.value)} />
        <NativeSelect label="The entity that stays" data={data} value={to} onChange={(event) => setTo(event.currentTarget.value)} />
      </div>
      {from !== '' && <Loaded query={source}>{() => null}</Loaded>}
      {to !== '' && <Loaded query={target}>{() => null}</Loaded>}
      {from !== '' && from === to && <Text mt="md">Choose two different entities.</Text>}
      {source.data && target.data && from !== to && <Preview key={`${from} ${to}`} from={source.data.data} to={target.data.data} />}
    </Page>
  );
}

function Preview({ from, to }: { readonly from: Entity; readonly to: Entity }) {
  const go = useGo();
  const client = useQueryClient();
  const plan = mergePlan(from, to);
  const groups = useRecords<Group>('identity/group/id', plan.joins);
  const [keep, setKeep] = useState<Readonly<Record<string, string>>>({});
  const open = plan.clashes.filter(({ theirs }) => keep[theirs.id] === undefined);
  const lines = [
    ...plan.moves.map((alias) => `The alias ${alias.name} at ${alias.mount_path ?? 'a mount that is gone'} moves.`),
    ...plan.joins.map((id) => `${to.name} joins the group ${groups.get(id)?.name ?? id}.`),
    ...plan.lost.map((policy) => `The policy ${policy} is not taken over: ${to.name} has it only if you add it.`),
    ...(plan.lostMetadata.length > 0 ? [`The metadata ${plan.lostMetadata.join(', ')} of ${from.name} ends.`] : []),
    ...(Object.keys(from.mfa_secrets ?? {}).length > 0
      ? [`The second factors of ${from.name} move, unless ${to.name} has one of the same method.`]
      : []),
  ];
  return (
    <section aria-labelledby="preview">
      <Title order={2} size="h4" id="preview" mt="lg" mb="xs">
        What happens
      </Title>
      <ul>
        {lines.map((line) => (
          <li key={line}>
            <Text size="sm">{line}</Text>
          </li>
        ))}
        <li>
          <Text size="sm">{`The entity ${from.name} ends. This cannot be undone.`}</Text>
        </li>
      </ul>
      <Stack gap="md" my="md">
        {plan.clashes.map(({ mount, ours, theirs }) => (
          <Radio.Group
            key={theirs.id}
            label={`Both have an alias at ${mount}: which one stays?`}
            value={keep[theirs.id] ?? ''}
            onChange={(value) => setKeep({ ...keep, [theirs.id]: value })}
          >
            <Stack gap={6} mt={6}>
              <Radio value={ours.id} label={`${ours.name}, of ${to.name}`} />
              <Radio value={theirs.id} label={`${theirs.name}, of ${from.name}`} />
            </Stack>
          </Radio.Group>
        ))}
      </Stack>
      {open.length > 0 ? (
        <Text size="sm">Choose which alias stays before the entities can be merged.</Text>
      ) : (
        <ConfirmAction
          label={`Merge ${from.name} into ${to.name}`}
          typed={from.name}
          needs={{ path: 'identity/entity/merge', need: 'update' }}
          act={async () => {
            const kept = Object.values(keep);
            await send('POST', 'identity/entity/merge', {
              body: {
                from_entity_ids: [from.id],
                to_entity_id: to.id,
                ...(kept.length > 0 ? { conflicting_alias_ids_to_keep: kept } : {}),
              },
            });
            await makeStale(client, ['identity']);
            go('/access/entities/$id', { id: to.id });
          }}
        >
          {`The entity ${from.name} ends, as shown above. This cannot be undone.`}
        </ConfirmAction>
      )}
    </section>
  );
}
