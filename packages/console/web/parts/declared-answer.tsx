import { Code, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ApiDocument, Schema } from '../api/openapi.ts';
import { resolved } from '../api/openapi.ts';
import { isPicture, isSecret } from '../api/marked-secrets.ts';
import { CopyButton } from './copy-button.tsx';
import classes from './declared-answer.module.css';
import { duration } from './durations.ts';
import { Facts } from './facts.tsx';
import { Ladder, type Rung } from './ladder.tsx';
import { SecretValue } from './secret-value.tsx';
import { When } from './when.tsx';
import { inWords } from './words.ts';

interface DeclaredAnswerProps {
  readonly document: ApiDocument;
  /** Of `data`. */
  readonly schema: Schema;
  readonly data: Readonly<Record<string, unknown>>;
  /** Names of fields that are secrets, whatever the schema says of them. */
  readonly secrets?: ReadonlySet<string>;
  /** What is no part of the schema may be a secret: it is hidden. */
  readonly hideUnknown?: boolean;
  /** Texts can be copied: somebody asked for them, to use them elsewhere. */
  readonly copies?: boolean;
  /** Of a record of things, by its field: the thing of a name, where it has a page. */
  readonly thing?: (field: string, name: string) => ReactNode;
}

/** An answer as labels and values, by its schema: secrets, and what has one anywhere in it, hidden until somebody asks, times and durations in words. */
export function DeclaredAnswer({ document, schema, data, secrets = new Set(), hideUnknown = false, ...drawing }: DeclaredAnswerProps) {
  return (
    <Facts
      facts={Object.entries(data).map(([name, value]) => {
        const field = resolved(document, schema.properties?.[name]);
        const known = Object.hasOwn(schema.properties ?? {}, name);
        const secret = isSecret(document, schema, name) || secrets.has(name) || (hideUnknown && !known);
        return { label: inWords(name), value: drawn({ name, schema: field, secret, document, ...drawing }, value) };
      })}
    />
  );
}

interface Field extends Pick<DeclaredAnswerProps, 'document' | 'copies' | 'thing'> {
  readonly name: string;
  readonly schema: Schema;
  readonly secret: boolean;
}

function drawn(field: Field, value: unknown): ReactNode {
  const { name, schema, secret, document, copies = false } = field;
  if (value === null || value === undefined || value === '') return undefined;
  if (secret)
    return (
      <SecretValue
        label={inWords(name).toLowerCase()}
        value={typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)}
        picture={isPicture(schema)}
      />
    );
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (schema.format === 'date-time' && typeof value === 'string') return <When time={value} />;
  if (typeof value === 'number') return number(value, schema);
  if (Array.isArray(value)) return list(field, value);
  if (typeof value === 'object') return record(field, value as Readonly<Record<string, unknown>>);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (isPicture(resolved(document, schema))) return <SecretValue label={inWords(name).toLowerCase()} value={text} picture />;
  const shown = text.includes('\n') ? (
    <Code block tabIndex={0}>
      {text}
    </Code>
  ) : (
    <span>{text}</span>
  );
  if (!copies) return shown;
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      {shown}
      <CopyButton icon value={text} label={`Copy ${inWords(name).toLowerCase()}`} />
    </Group>
  );
}

function number(value: number, { description = '' }: Schema): ReactNode {
  if (/\bseconds since the epoch\b/i.test(description)) return <When time={value * 1_000} />;
  return /\bSeconds\b/.test(description) ? duration(value) : String(value);
}

function list({ name, schema, document }: Field, values: readonly unknown[]): ReactNode {
  if (values.length === 0) return <None />;
  if (values.every((one) => typeof one === 'string' || typeof one === 'number')) return values.join(', ');
  const steps = resolved(document, schema.items).properties ?? {};
  const isTest = ['step', 'ok', 'milliseconds'].every((one) => Object.hasOwn(steps, one));
  return isTest ? <Ladder label={inWords(name)} rungs={values as readonly Rung[]} /> : <Json value={values} />;
}

/** Of an object whose fields are declared: labels and values in the place of the value. Of things by name: each with its own. */
function record({ name, schema, document, copies = false, thing }: Field, value: Readonly<Record<string, unknown>>): ReactNode {
  const entries = Object.entries(value);
  if (entries.length === 0) return <None />;
  if (schema.properties) return <DeclaredAnswer document={document} schema={schema} data={value} copies={copies} />;
  const inner = typeof schema.additionalProperties === 'object' ? resolved(document, schema.additionalProperties) : {};
  if (!inner.properties && !['string', 'number', 'integer'].includes(inner.type ?? '')) return <Json value={value} />;
  return (
    <ul className={classes.things}>
      {entries.map(([key, one]) => (
        <li key={key}>
          <b>{thing?.(name, key) ?? key}</b>
          <div>{drawn({ name: key, schema: inner, document, secret: false }, one)}</div>
        </li>
      ))}
    </ul>
  );
}

function Json({ value }: { readonly value: unknown }) {
  return (
    <Code block tabIndex={0}>
      {JSON.stringify(value, undefined, 2)}
    </Code>
  );
}

function None() {
  return (
    <Text span c="dimmed">
      none
    </Text>
  );
}
