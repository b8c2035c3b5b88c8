import { Alert, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { apiPath } from '../../api/api-path.ts';
import { capturesOf, filled, issues, relatedTo, type EnginePath, type FoundPath } from '../../api/engine-paths.ts';
import { isSecret } from '../../api/marked-secrets.ts';
import { bodyOf, dataOf, type ApiDocument, type Schema } from '../../api/openapi.ts';
import { useRead } from '../../api/queries.ts';
import { send, type Answer } from '../../api/send.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { DeclaredAnswer } from '../../parts/declared-answer.tsx';
import { PathForm } from '../../parts/form/path-form.tsx';
import { IssuedCredential } from '../../parts/issued-credential.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';

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
  const { get, post, delete: remove } = path.item;
  const reads = get !== undefined && !issues(path);
  const at = apiPath(mount, address);
  const stored = useRead(at, { enabled: reads && !isNew, secret: true });
  const absent = stored.error instanceof ApiError && stored.error.status === 404;
  const go = useGo();
  const list = address.split('/').slice(0, -1).join('/');
  const body = bodyOf(document, post);
  const secrets = new Set(
    Object.entries(body.properties ?? {}).flatMap(([name, field]) => (field['x-vault-displayAttrs']?.sensitive ? [name] : [])),
  );
  const related = relatedTo(paths, path);
  return (
    <Stack gap="lg">
      <Text c="dimmed" size="sm">
        {path.item.description}
      </Text>
      {issues(path) && (
        <IssuedCredential
          label="Issue"
          path={at}
          needs={{ path: `${mount}/${address}`, need: 'read' }}
          plain={plainFields(document, dataOf(document, get))}
          stale={['sys/leases']}
        />
      )}
      {reads && !isNew && !absent && (
        <Loaded query={stored}>
          {({ data }) => <DeclaredAnswer document={document} schema={dataOf(document, get)} data={data} secrets={secrets} />}
        </Loaded>
      )}
      {absent && <Alert variant="light">There is nothing at this path yet.</Alert>}
      {related.length > 0 && !isNew && (
        <Group gap="md" role="group" aria-label="What else can be done">
          {related.map(({ template, item }) => (
            <To
              key={template}
              to="/engine/$mount/$"
              params={{ mount, rest: filled(template, { [capturesOf(template)[0]!]: Object.values(path.captures)[0] ?? '' }) }}
            >
              {(item.post ?? item.get)?.summary.replace(/\.$/, '') ?? template}
            </To>
          ))}
        </Group>
      )}
      {post && (!reads || isNew || !stored.isPending) && (
        <WriteForm
          key={stored.data ? 'change' : 'make'}
          document={document}
          mount={mount}
          address={address}
          path={path}
          stored={isNew || !stored.data ? undefined : openValues(document, dataOf(document, get), stored.data.data)}
          done={() => isNew && go('/engine/$mount/$', { mount, rest: address }, {}, { replace: true })}
        />
      )}
      {remove && !isNew && !absent && (
        <div>
          <ConfirmAction
            label={`Delete ${address}`}
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

interface WriteFormProps extends Omit<ThingPlaceProps, 'paths'> {
  /** Undefined where nothing is stored yet. */
  readonly stored: Readonly<Record<string, unknown>> | undefined;
  readonly done: () => void;
}

/** Sends what was touched; an answer with data stands below the form, its secrets hidden. */
function WriteForm({ document, mount, address, path, stored, done }: WriteFormProps) {
  const [answer, setAnswer] = useState<Answer>();
  const at = apiPath(mount, address);
  const { post, get } = path.item;
  const schema = dataOf(document, post);
  return (
    <section aria-labelledby="write-title">
      <Title order={2} size="h4" id="write-title" mb="sm">
        {post!.summary.replace(/\.$/, '')}
      </Title>
      <PathForm
        path={at}
        stored={get && stored}
        submit={get ? 'Save' : 'Do it'}
        needs={{ path: `${mount}/${address}`, need: ['update', 'create'] }}
        stale={[at, apiPath(mount, address.split('/').slice(0, -1).join('/'))]}
        done={(made) => {
          setAnswer(made);
          done();
        }}
      />
      {answer && Object.keys(answer.data).length > 0 && (
        <Alert role="status" mt="md" variant="light" title="Done">
          <DeclaredAnswer document={document} schema={schema} data={answer.data} hideUnknown />
        </Alert>
      )}
    </section>
  );
}

/** The fields of a credential that are no secrets: those that the declaration leaves open, where it marks any. */
function plainFields(document: ApiDocument, schema: Schema): string[] {
  const names = Object.keys(schema.properties ?? {});
  const open = names.filter((name) => !isSecret(document, schema, name));
  return open.length < names.length ? open : [];
}

/** What a form may draw of an answer: all but secrets. */
function openValues(document: ApiDocument, schema: Schema, data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).filter(([name]) => !isSecret(document, schema, name)));
}
