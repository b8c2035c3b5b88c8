import type { RawBody } from '@strongroom/engine-sdk';
import { fieldSpec } from '@strongroom/engine-sdk';
import type { TSchema } from 'typebox';
import type { Mount } from '../../kernel/mounts/mount.ts';
import type { PathMatch } from '../../kernel/mounts/path-router.ts';
import { openApiOf } from './openapi.ts';

/** What `?help=1` answers: the text of the declaration, or of the whole mount at its root. */
export function helpFor(mount: Mount, match: PathMatch | undefined, path: string): RawBody {
  const rest = path.slice(mount.path.length).replace(/\/$/, '');
  const declaration = rest === '' ? undefined : match?.path.declaration;
  let help: string;
  if (declaration) {
    const fields = Object.entries(declaration.about.fields as Record<string, TSchema & { description?: string }>);
    help = [
      `Request:        ${rest}`,
      `Matching Route: ${declaration.pattern}`,
      '',
      declaration.about.synopsis,
      '',
      '## PARAMETERS',
      '',
      ...fields.flatMap(([name, schema]) => [`    ${name} (${fieldSpec(schema).kind})`, `        ${schema.description ?? ''}`, '']),
      '## DESCRIPTION',
      '',
      declaration.about.description,
    ].join('\n');
  } else {
    const paths = mount.router?.paths ?? [];
    help = [
      '## DESCRIPTION',
      '',
      mount.record.description || `A mount of type ${mount.type}.`,
      '',
      '## PATHS',
      '',
      'The following paths are supported by this mount. Ask for help on any of them.',
      '',
      ...paths.flatMap((one) => [`    ${one.pattern}`, `        ${one.about.synopsis}`, '']),
    ].join('\n');
  }
  const openapi = openApiOf([{ prefix: mount.path, paths: declaration ? [declaration] : (mount.router?.paths ?? []) }]);
  return { contentType: 'application/json', body: `${JSON.stringify({ help, see_also: null, openapi })}\n` };
}
