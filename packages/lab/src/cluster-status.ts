/** What an API server answers. */
export interface ClusterAnswer {
  readonly code: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One reason why an object is invalid, or cannot be applied. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** A resource as refusals name it. */
export interface StatusKind {
  readonly kind: string;
  readonly plural: string;
  /** '' for the core group. */
  readonly group: string;
}

const grouped = (name: string, group: string): string => (group === '' ? name : `${name}.${group}`);

/** A refusal as API servers write it. */
export function status(code: number, reason: string, message: string, details?: Readonly<Record<string, unknown>>): ClusterAnswer {
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(details ? { details } : {}),
    code,
  };
  return { code, body };
}

function detailsOf(kind: string, group: string, name: string): Record<string, unknown> {
  return { name, ...(group === '' ? {} : { group }), kind };
}

export function missing({ plural, group }: Pick<StatusKind, 'plural' | 'group'>, name: string): ClusterAnswer {
  return status(404, 'NotFound', `${grouped(plural, group)} "${name}" not found`, detailsOf(plural, group, name));
}

export const NAMESPACES = { plural: 'namespaces', group: '' } as const;

export function taken({ plural, group }: StatusKind, name: string): ClusterAnswer {
  return status(409, 'AlreadyExists', `${grouped(plural, group)} "${name}" already exists`, detailsOf(plural, group, name));
}

export function invalid({ kind, group }: StatusKind, name: string, causes: readonly StatusCause[]): ClusterAnswer {
  const texts = causes.map(({ field, message }) => `${field}: ${message}`);
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return status(422, 'Invalid', `${grouped(kind, group)} "${name}" is invalid: ${text}`, { ...detailsOf(kind, group, name), causes });
}

export const invalidValue = (field: string, value: string, rule: string): StatusCause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${JSON.stringify(value)}: ${rule}`,
  field,
});

export const requiredValue = (field: string, rule = ''): StatusCause => ({
  reason: 'FieldValueRequired',
  message: rule === '' ? 'Required value' : `Required value: ${rule}`,
  field,
});

/** Somebody has changed the object since it was read. */
export function modified({ plural, group }: StatusKind, name: string): ClusterAnswer {
  const message = `Operation cannot be fulfilled on ${grouped(plural, group)} "${name}": the object has been modified; please apply your changes to the latest version and try again`;
  return status(409, 'Conflict', message, detailsOf(plural, group, name));
}

/** The object was deleted and made again since. */
export function otherUid({ kind, group }: StatusKind, name: string, wanted: string, found: string): ClusterAnswer {
  const message = `Operation cannot be fulfilled on ${grouped(kind, group)} "${name}": the UID in the precondition (${wanted}) does not match the UID in record (${found}). The object might have been deleted and then recreated`;
  return status(409, 'Conflict', message, detailsOf(kind, group, name));
}

export function deleted({ plural, group }: StatusKind, name: string, uid: string): ClusterAnswer {
  const details = { ...detailsOf(plural, group, name), uid };
  return { code: 200, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } };
}

/** What the rights of an account do not have. */
export function forbidden(
  user: { readonly namespace: string; readonly name: string },
  asked: { readonly verb: string; readonly group: string; readonly resource: string; readonly namespace: string; readonly name?: string },
): ClusterAnswer {
  const { verb, group, resource, namespace, name } = asked;
  const [plural = ''] = resource.split('/');
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const what = `${grouped(plural, group)}${name === undefined ? '' : ` "${name}"`}`;
  const message = `${what} is forbidden: User "system:serviceaccount:${user.namespace}:${user.name}" cannot ${verb} resource "${resource}" in API group "${group}" ${where}`;
  return status(403, 'Forbidden', message, { ...(name === undefined ? {} : { name }), ...(group === '' ? {} : { group }), kind: plural });
}

export function json(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
