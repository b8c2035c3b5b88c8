import { Code, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ApiDocument, Schema } from '../api/openapi.ts';
import { resolved } from '../api/openapi.ts';
import { isSecret } from '../api/marked-secrets.ts';
import { duration } from './durations.ts';
import { Facts } from './facts.tsx';
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
}

/** An answer as labels and values, by its schema: secrets, and what has one anywhere in it, hidden until somebody asks, times and durations in words. */
export function DeclaredAnswer({ document, schema, data, secrets = new Set(), hideUnknown = false }: DeclaredAnswerProps) {
  return (
    <Facts
      facts={Object.entries(data).map(([name, value]) => {
        const field = resolved(document, schema.properties?.[name]);
        const known = Object.hasOwn(schema.properties ?? {}, name);
        const secret = isSecret(document, schema, name) || secrets.has(name) || (hideUnknown && !known);
        return { label: inWords(name), value: drawn(name, value, field, secret) };
      })}
    />
  );
}

function drawn(name: string, value: unknown, schema: Schema, secret: boolean): ReactNode {
  if (value === null || value === undefined || value === '') return undefined;
  if (secret)
    return (
      <SecretValue label={inWords(name).toLowerCase()} value={typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)} />
    );
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (schema.format === 'date-time' && typeof value === 'string') return <When time={value} />;
  if (typeof value === 'number') return /\bSeconds\b/.test(schema.description ?? '') ? duration(value) : String(value);
  if (Array.isArray(value) && value.every((one) => typeof one === 'string' || typeof one === 'number')) {
    return value.length === 0 ? (
      <Text span c="dimmed">
        none
      </Text>
    ) : (
      value.join(', ')
    );
  }
  if (typeof value === 'object') {
    return (
      <Code block tabIndex={0}>
        {JSON.stringify(value, undefined, 2)}
      </Code>
    );
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.includes('\n') ? (
    <Code block tabIndex={0}>
      {text}
    </Code>
  ) : (
    text
  );
}
