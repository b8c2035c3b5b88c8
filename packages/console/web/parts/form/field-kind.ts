import type { Schema } from '../../api/openapi.ts';

/**
 * How a field is drawn and read. `secret`: one hidden line. `text`, `number`, `duration`: one line. `lines`: several lines of one text; `code`: a document in
 * JSON. `list`: one entry a line. `statements`: a list whose entries may have several lines. `pairs`: texts by name. `json`: anything else.
 */
export type FieldKind =
  | 'secret'
  | 'choice'
  | 'boolean'
  | 'number'
  | 'duration'
  | 'text'
  | 'lines'
  | 'code'
  | 'list'
  | 'statements'
  | 'pairs'
  | 'json';

/** Texts of several lines, by what they are called and said to be: most declarations do not mark them. */
const PEM_NAME = /(^|_)(certificates?|pem|certs?|key|pubkeys|ca|crl)$/;
const LONG_ABOUT = /\b(LDIF|HCL|YAML)\b/;

function isLong(name: string, { description = '', ...schema }: Schema): boolean {
  if (schema['x-vault-displayAttrs']?.editType === 'textarea') return true;
  return LONG_ABOUT.test(description) || (PEM_NAME.test(name) && /\bPEM\b/.test(description));
}

export function kindOf(name: string, schema: Schema): FieldKind {
  const shown = schema['x-vault-displayAttrs'];
  if (schema.type === 'array') {
    if (schema.items?.type !== 'string' && schema.items?.type !== 'integer') return 'json';
    return isLong(name, schema) ? 'statements' : 'list';
  }
  if (schema.type === 'object') {
    return typeof schema.additionalProperties === 'object' && schema.additionalProperties.type === 'string' ? 'pairs' : 'json';
  }
  if (schema.enum) return 'choice';
  if (schema.format === 'duration') return 'duration';
  if (schema.type === 'boolean') return 'boolean';
  if (schema.type === 'integer' || schema.type === 'number') return 'number';
  if (shown?.editType === 'json') return 'code';
  if (isLong(name, schema)) return 'lines';
  return shown?.sensitive ? 'secret' : 'text';
}

export function isSensitive(schema: Schema): boolean {
  return schema['x-vault-displayAttrs']?.sensitive === true;
}
