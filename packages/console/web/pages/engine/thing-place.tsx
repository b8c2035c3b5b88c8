import { Alert, Group, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { apiPath } from '../../api/api-path.ts';
import {
  capturesOf,
  deletesByWrite,
  filled,
  issues,
  issuesByWrite,
  linkText,
  lists,
  relatedTo,
  type EnginePath,
  type FoundPath,
} from '../../api/engine-paths.ts';
import { isSecret, openFields } from '../../api/marked-secrets.ts';
import { bodyOf, dataOf, type ApiDocument, type Schema } from '../../api/openapi.ts';
import { useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { token } from '../../api/token.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { DeclaredAnswer } from '../../parts/declared-answer.tsx';
import { IssuedCredential } from '../../parts/issued-credential.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { WriteAnswer, type Written } from './write-answer.tsx';
import { WriteForm } from './write-form.tsx';

interface ThingPlaceProps {
  readonly document: ApiDocument;
  readonly mount: string;
  readonly address: string;
  readonly path: FoundPath;
  readonly paths: readonly EnginePath[];
}

/** A thing of an engine: what it says, the form that changes it, what else can be done with it, and its end. */
export function ThingPlace({ document, mount, address, path, paths }: ThingPlaceProps) {
  const isNew = usePlace().search.new !== undefined;
  // Above the form: what a write answers stays when the form starts again with what is stored.
  const [written, setWritten] = useState<Written>();
  const { get, post, delete: remove } = path.item;
  const reads = get !== undefined && !issues(path);
  const at = apiPath(mount, address);
  const needs = { path: `${mount}/${address}`, need: 'read' as const };
  const stored = useRead(at, { enabled: reads && !isNew, secret: true });
  const absent = stored.error instanceof ApiError && stored.error.status === 404;
  const go = useGo();
  const list = address.split('/').slice(0, -1).join('/');
  const answer = dataOf(document, get);
  const changes = reads && changesWhatItReads(document, path);
  const related = relatedTo(paths, path);
  const once = changes || issuesByWrite(path);
  const outcome = written && (
    <WriteAnswer
      document={document}
      schema={dataOf(document, post)}
      written={written}
      once={once}
      over={(why) => setWritten({ ...written, over: why })}
    />
  );
  useEffect(() => token.subscribe(() => setWritten(undefined)), []);
  return (
    <Stack gap="lg">
      <Text c="dimmed" size="sm">
        {path.item.description}
      </Text>
      {issues(path) && (
        <IssuedCredential label="Issue" path={at} needs={needs} plain={openFields(document, answer)} stale={['sys/leases']} />
      )}
      {reads && !isNew && !absent && (
        <Loaded query={stored}>
          {({ data }) => (
            <DeclaredAnswer
              document={document}
              schema={answer}
              data={data}
              secrets={sensitiveFields(bodyOf(document, post))}
              thing={(field, name) => thingLink({ mount, paths }, field, name)}
            />
          )}
        </Loaded>
      )}
      {reads && !isNew && stored.data && Object.keys(stored.data.data).some((name) => isSecret(document, answer, name)) && (
        <div>
          <ActionButton variant="default" needs={needs} loading={stored.isFetching} onClick={() => void stored.refetch()}>
            Read again
          </ActionButton>
        </div>
      )}
      {absent && <Alert variant="light">There is nothing at this path yet.</Alert>}
      {related.length > 0 && !isNew && !(absent && capturesOf(path.template).length > 0) && (
        <Group gap="md" role="group" aria-label="What else can be done">
          {related.map((other) => (
            <To
              key={other.template}
              to="/engine/$mount/$"
              params={{
                mount,
                rest: filled(other.template, { [capturesOf(other.template)[0] ?? '']: Object.values(path.captures)[0] ?? '' }),
              }}
            >
              {linkText(other)}
            </To>
          ))}
        </Group>
      )}
      {(once || written?.made) && outcome}
      {post && (!reads || isNew || !stored.isPending) && (
        <WriteForm
          key={stored.data ? 'change' : 'make'}
          mount={mount}
          address={address}
          path={path}
          stored={isNew || !stored.data || !changes ? undefined : openValues(document, answer, stored.data.data)}
          changes={changes}
          done={(made) => {
            setWritten({ answer: made, made: isNew || absent });
            if (isNew) go('/engine/$mount/$', { mount, rest: address }, {}, { replace: true });
          }}
        />
      )}
      {!once && !written?.made && outcome}
      {remove && !isNew && !absent && !deletesByWrite(path) && (
        <div>
          <ConfirmAction
            label={get || post || list === '' || isThing(paths, path) ? `Delete ${address}` : remove.summary.replace(/\.$/, '')}
            typed={address.slice(address.lastIndexOf('/') + 1)}
            needs={{ path: `${mount}/${address}`, need: 'delete' }}
            act={async () => {
              await send('DELETE', at);
              go('/engine/$mount/$', { mount, rest: list });
            }}
          >
            {remove.summary}
          </ConfirmAction>
        </div>
      )}
    </Stack>
  );
}

/** Whether a write changes what a read shows, and is no call that only has the same path: they have a field in common that is shown. */
function changesWhatItReads(document: ApiDocument, path: FoundPath): boolean {
  const { get, post } = path.item;
  if (!post || deletesByWrite(path)) return false;
  const answer = dataOf(document, get);
  const taken = bodyOf(document, post).properties ?? {};
  return Object.keys(answer.properties ?? {}).some((name) => Object.hasOwn(taken, name) && !isSecret(document, answer, name));
}

function isThing(paths: readonly EnginePath[], { template }: EnginePath): boolean {
  return paths.some((path) => lists(path) && template.replace(/\/\{\w+\}$/, '') === path.template);
}

/** The page of a thing that an answer names, by the field that it stands in: `static_roles` are those of the list `static-roles`. */
function thingLink({ mount, paths }: Pick<ThingPlaceProps, 'mount' | 'paths'>, field: string, name: string) {
  const list = field.replaceAll('_', '-');
  if (!paths.some((path) => path.template === list && lists(path))) return undefined;
  return (
    <To to="/engine/$mount/$" params={{ mount, rest: `${list}/${name}` }}>
      {name}
    </To>
  );
}

function sensitiveFields({ properties = {} }: Schema): ReadonlySet<string> {
  return new Set(Object.keys(properties).filter((name) => properties[name]!['x-vault-displayAttrs']?.sensitive));
}

/** What a form may draw of an answer: all but secrets. */
function openValues(document: ApiDocument, schema: Schema, data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).filter(([name]) => !isSecret(document, schema, name)));
}
