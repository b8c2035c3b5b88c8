import { Alert, Badge, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { capturesOf, filled } from '../../api/engine-paths.ts';
import { bodyOf, dataOf, resolved, type ApiDocument, type PathItem, type Schema, type Verb } from '../../api/openapi.ts';
import { send, type Answer } from '../../api/send.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ActionButton } from '../../parts/action-button.tsx';
import { DeclaredAnswer } from '../../parts/declared-answer.tsx';
import { Form } from '../../parts/form/form.tsx';
import { asText, type FormValues } from '../../parts/form/form-values.ts';
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
  const [asked, setAsked] = useState<{ readonly path: string; readonly settle: (sure: boolean) => void }>();
  const [answer, setAnswer] = useState<Answer>();
  const schema = fieldsOf(document, item, verb);
  const id = `${verb}-call`;
  const settle = (sure: boolean): void => {
    asked?.settle(sure);
    setAsked(undefined);
  };
  const call = async (values: FormValues): Promise<Answer | undefined> => {
    const { path, body } = split(template, values);
    const sure = verb === 'get' || (await new Promise<boolean>((resolve) => setAsked({ path, settle: resolve })));
    if (!sure) return undefined;
    setAnswer(undefined);
    const { method, ...rest } = callOf(verb, body);
    const made = await send(method, apiPath(path), rest);
    setAnswer(made);
    return made;
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
        <Form
          id={`call ${verb} ${template}`}
          schema={schema}
          variant={(value) => {
            const mapping = schema.discriminator?.mapping ?? {};
            return Object.hasOwn(mapping, value) ? resolved(document, { $ref: mapping[value]! }) : undefined;
          }}
          submit={verb === 'get' ? 'Call' : 'Call…'}
          needs={(values) => {
            const { path, missing } = split(template, values);
            return missing ? undefined : { path, need: NEEDS[verb] };
          }}
          commands={(values) => [{ with: 'curl', command: curlOf(window.location.origin, verb, split(template, values).path, shellWord) }]}
          keeps
          send={call}
        />
        {answer && (
          <Alert role="status" variant="light" title={`${answer.status}`}>
            <DeclaredAnswer document={document} schema={dataOf(document, operation)} data={answer.data} hideUnknown={verb !== 'get'} />
          </Alert>
        )}
      </Stack>
      <Dialog title={`Call ${verb.toUpperCase()} ${asked?.path ?? ''}?`} opened={asked !== undefined} onClose={() => settle(false)}>
        <Stack>
          <Text size="sm">{operation.summary}</Text>
          <Group justify="flex-end">
            <ActionButton onClick={() => settle(true)}>Call</ActionButton>
          </Group>
        </Stack>
      </Dialog>
    </section>
  );
}

const NEEDS = { get: ['read', 'list'], post: ['update', 'create'], patch: 'patch', delete: 'delete' } as const;

/** The captures of the path are fields too, with a colon before their names: the body may have a field of the same name. */
function split(template: string, values: FormValues): { readonly path: string; readonly body: FormValues; readonly missing: boolean } {
  const captures = capturesOf(template);
  const texts = Object.fromEntries(captures.map((name) => [name, asText(values[`:${name}`])]));
  return {
    path: filled(template, texts),
    body: Object.fromEntries(Object.entries(values).filter(([name]) => !name.startsWith(':'))),
    missing: captures.some((name) => texts[name] === ''),
  };
}

/** The fields of a call: the captures of its path, and what its body or its query takes. */
function fieldsOf(document: ApiDocument, item: PathItem, verb: Verb): Schema {
  const operation = item[verb]!;
  const captures = (item.parameters ?? []).map(({ name, description = '', schema }): [string, Schema] => [
    `:${name}`,
    { ...schema, title: name, description },
  ]);
  const query = (operation.parameters ?? []).flatMap(({ in: where, name, description = '', schema }): [string, Schema][] =>
    where === 'query' ? [[name, { ...schema, description }]] : [],
  );
  const body: Schema = verb === 'post' || verb === 'patch' ? bodyOf(document, operation) : { properties: Object.fromEntries(query) };
  return {
    ...body,
    properties: { ...Object.fromEntries(captures), ...body.properties },
    required: [...captures.map(([name]) => name), ...(body.required ?? [])],
  };
}
