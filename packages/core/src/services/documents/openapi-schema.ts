import { fieldSpec, formatDuration } from '@strongroom/engine-sdk';
import type { TSchema } from 'typebox';
import type { Components } from './openapi-components.ts';
import type { OpenApiSchema } from './openapi-ref.ts';

/** Keywords that OpenAPI 3.0 has with the meaning of JSON Schema. All others say how a value is handled, not what it is, and are left out. */
const KEPT: ReadonlySet<string> = new Set([
  ...['title', 'description', 'type', 'format', 'enum', 'default', 'example', 'deprecated', 'readOnly', 'writeOnly', 'nullable'],
  ...['minimum', 'maximum', 'multipleOf', 'minLength', 'maxLength', 'pattern', 'minItems', 'maxItems', 'uniqueItems', 'required'],
  ...['minProperties', 'maxProperties', 'additionalProperties'],
]);

/**
 * A schema of JSON Schema as OpenAPI 3.0 writes it: without `const` and `null`, with `format: byte` for base64, and with `x-vault-displayAttrs` for what a form or a page must know. A schema with a
 * title that is a name (`RotationStatus`) becomes a component, once; without components it stays where it is.
 */
export function openApiSchema(schema: TSchema, components?: Components): OpenApiSchema {
  const { title } = schema as { title?: string };
  if (
    components &&
    title !== undefined &&
    /^[A-Z]\w*$/.test(title) &&
    !('x-field' in schema) &&
    (schema as { type?: string }).type === 'object'
  ) {
    return components.schema(title, schema, () => plain(schema, components));
  }
  return plain(schema, components);
}

/** The schema of a field, for a form. */
export function fieldSchema(field: TSchema, components?: Components): OpenApiSchema {
  const spec = fieldSpec(field);
  const { default: byDefault, ...schema } = openApiSchema(field, components) as { default?: unknown };
  const duration = spec.kind === 'duration' || spec.kind === 'signedDuration';
  const shape: OpenApiSchema = spec.shape ? openApiSchema(spec.shape, components) : {};
  return {
    ...schema,
    ...(spec.kind === 'list' ? { items: {} } : {}),
    ...shape,
    ...(duration ? { type: 'string', format: 'duration' } : {}),
    ...(spec.kind === 'time' ? { type: 'string', format: 'date-time' } : {}),
    ...(byDefault === undefined ? {} : { default: duration ? formatDuration(byDefault as number) : byDefault }),
    ...(spec.deprecated ? { deprecated: true } : {}),
    ...displayed({ sensitive: spec.secret, group: spec.group, multiline: spec.multiline }),
  };
}

/** The schema of an object whose properties are fields, for a form. */
export function formSchema({ properties, required = [] }: FormFields, components?: Components): OpenApiSchema {
  const needed = Object.entries(properties).flatMap(([name, field]) =>
    fieldSpec(field).required || required.includes(name) ? [name] : [],
  );
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, fieldSchema(field, components)])),
    ...(needed.length > 0 ? { required: needed } : {}),
  };
}

interface FormFields {
  readonly properties: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
}

function plain(schema: TSchema, components?: Components): OpenApiSchema {
  const made: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema) as [string, unknown][]) {
    if (key === 'const') made['enum'] = [value];
    else if (key === 'type' && value === 'null') Object.assign(made, { nullable: true, enum: [null] });
    else if (key === 'type' && Array.isArray(value)) Object.assign(made, nullable(value as string[]));
    else if (key === 'anyOf') Object.assign(made, union(value as TSchema[], components));
    else if (key === 'properties') {
      made[key] = Object.fromEntries(
        Object.entries(value as object).map(([name, one]) => [name, openApiSchema(one as TSchema, components)]),
      );
    } else if (['items', 'additionalProperties'].includes(key) && typeof value === 'object') {
      made[key] = openApiSchema(value as TSchema, components);
    } else if (key === 'patternProperties') {
      const [one] = Object.values(value as Record<string, TSchema>);
      made['additionalProperties'] = one ? openApiSchema(one, components) : {};
    } else if (key === 'allOf' || key === 'oneOf') made[key] = (value as TSchema[]).map((one) => openApiSchema(one, components));
    else if (key === 'exclusiveMinimum') Object.assign(made, { minimum: value, exclusiveMinimum: true });
    else if (key === 'exclusiveMaximum') Object.assign(made, { maximum: value, exclusiveMaximum: true });
    else if (key === 'contentEncoding' && value === 'base64') made['format'] = 'byte';
    else if (KEPT.has(key)) made[key] = value;
  }
  const { secret, group, multiline, contentMediaType } = schema as Shown;
  return { ...made, ...displayed({ sensitive: secret, group, multiline, mediaType: contentMediaType }) };
}

/** What a schema of an answer says to whoever draws it. */
interface Shown {
  readonly secret?: boolean;
  readonly group?: string;
  readonly multiline?: boolean | 'json';
  readonly contentMediaType?: string;
}

/** `['array', 'null']`: OpenAPI 3.0 has one type. */
function nullable(types: readonly string[]): OpenApiSchema {
  const others = types.filter((type) => type !== 'null');
  return { ...(others.length === 1 ? { type: others[0] } : {}), ...(others.length < types.length ? { nullable: true } : {}) };
}

/** Alternatives: null becomes `nullable`, literals of one type an `enum`. */
function union(alternatives: readonly TSchema[], components?: Components): OpenApiSchema {
  const others = alternatives.filter((one) => (one as { type?: string }).type !== 'null');
  const nullable = others.length < alternatives.length ? { nullable: true } : {};
  const [first] = others as (TSchema & { type?: string; const?: unknown })[];
  if (others.length === 1) return { ...openApiSchema(first!, components), ...nullable };
  if (others.every((one) => 'const' in one && (one as { type?: string }).type === first?.type)) {
    return { ...(first?.type ? { type: first.type } : {}), enum: others.map((one) => (one as { const?: unknown }).const), ...nullable };
  }
  return { anyOf: others.map((one) => openApiSchema(one, components)), ...nullable };
}

function displayed({
  sensitive,
  group,
  multiline,
  mediaType,
}: {
  sensitive?: boolean | undefined;
  group?: string | undefined;
  multiline?: boolean | 'json' | undefined;
  mediaType?: string | undefined;
}): OpenApiSchema {
  if (!sensitive && group === undefined && !multiline && mediaType === undefined) return {};
  return {
    'x-vault-displayAttrs': {
      ...(sensitive ? { sensitive: true } : {}),
      ...(group === undefined ? {} : { group }),
      ...(multiline ? { editType: multiline === 'json' ? 'json' : 'textarea' } : {}),
      ...(mediaType === undefined ? {} : { mediaType }),
    },
  };
}
