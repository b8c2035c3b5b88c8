import { Alert, Badge, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { apiPath } from '../../api/api-path.ts';
import { filled } from '../../api/engine-paths.ts';
import { bodyOf, dataOf, resolved, type ApiDocument, type PathItem, type Schema, type Verb } from '../../api/openapi.ts';
import { send, type Answer } from '../../api/send.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ActionButton } from '../../parts/action-button.tsx';
import { DeclaredAnswer } from '../../parts/declared-answer.tsx';
import { SchemaForm } from '../../parts/schema-form.tsx';
import type { FormValues } from '../../parts/schema-values.ts';
import { shellWord } from '../../parts/shell-word.ts';
import { callOf, curlOf } from './written-call.ts';

interface TryCallProps {
  readonly document: ApiDocument;
  /** `sys/policies/acl/{name}` */
  readonly template: string;
  readonly verb: Verb;
  readonly item: PathItem;
}

/** One call of a path: its fields, the same as a command, and what it answered. Whatever is no read is asked about first. */
export function TryCall({ document, template, verb, item }: TryCallProps) {
  const operation = item[verb]!;
  const [captures, setCaptures] = useState<Readonly<Record<string, string>>>({});
  const [asked, setAsked] = useState<FormValues>();
  const [tried, setTried] = useState(false);
  const [answer, setAnswer] = useState<Answer>();
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const schema = fieldsOf(document, item, verb);
  const path = filled(template, captures);
  const missing = item.parameters?.filter(({ name }) => !captures[name]) ?? [];
  const id = `${verb}-call`;
  const run = async (values: FormValues): Promise<void> => {
    setBusy(true);
    setError(undefined);
    setAnswer(undefined);
    try {
      const call = callOf(verb, values);
      setAnswer(await send(call.method, apiPath(path), call));
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      setError(caught);
    } finally {
      setBusy(false);
      setAsked(undefined);
    }
  };
  return (
    <section aria-labelledby={id}>
      <Group gap="xs" mb="sm">
        <Badge variant="light">{verb.toUpperCase()}</Badge>
        <Title order={2} size="h4" id={id}>
          {operation.summary}
        </Title>
      </Group>
      <Stack gap="md">
        {item.parameters?.map(({ name, description }) => (
          <TextInput
            key={name}
            label={name}
            description={description}
            required
            error={tried && !captures[name] && 'This is part of the path: fill it in.'}
            maw="44rem"
            autoComplete="off"
            value={captures[name] ?? ''}
            onChange={({ currentTarget }) => setCaptures({ ...captures, [name]: currentTarget.value })}
          />
        ))}
        <SchemaForm
          schema={schema}
          variant={(value) => {
            const ref = schema.discriminator?.mapping[value];
            return ref === undefined ? undefined : resolved(document, { $ref: ref });
          }}
          submit={verb === 'get' ? 'Call' : 'Call…'}
          needs={
            missing.length > 0
              ? undefined
              : { path, need: verb === 'get' ? ['read', 'list'] : verb === 'post' ? ['update', 'create'] : verb }
          }
          busy={busy}
          error={error ?? null}
          send={(values) => {
            if (missing.length > 0) setTried(true);
            else if (verb === 'get') void run(values);
            else setAsked(values);
          }}
        />
        <CommandLines lines={[{ with: 'curl', command: curlOf(window.location.origin, verb, path, shellWord) }]} />
        {answer && (
          <Alert role="status" variant="light" title={`${answer.status}`}>
            <DeclaredAnswer document={document} schema={dataOf(document, operation)} data={answer.data} hideUnknown={verb !== 'get'} />
            {answer.warnings.map((warning) => (
              <Text key={warning} size="sm">
                {warning}
              </Text>
            ))}
          </Alert>
        )}
      </Stack>
      <Dialog title={`Call ${verb.toUpperCase()} ${path}?`} opened={asked !== undefined} onClose={() => setAsked(undefined)}>
        <Stack>
          <Text size="sm">{operation.summary}</Text>
          <Group justify="flex-end">
            <ActionButton onClick={() => asked && void run(asked)} loading={busy}>
              Call
            </ActionButton>
          </Group>
        </Stack>
      </Dialog>
    </section>
  );
}

/** The fields of a call: those of its body, or of its query. */
function fieldsOf(document: ApiDocument, item: PathItem, verb: Verb): Schema {
  const operation = item[verb]!;
  if (verb === 'post' || verb === 'patch') return bodyOf(document, operation);
  const query = operation.parameters?.filter((parameter) => parameter.in === 'query') ?? [];
  return {
    type: 'object',
    properties: Object.fromEntries(query.map(({ name, description = '', schema }) => [name, { ...schema, description }])),
  };
}
