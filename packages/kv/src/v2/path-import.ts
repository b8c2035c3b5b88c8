import { type AnyPath, BadRequest, f, path } from '@strongroom/engine-sdk';
import { importSecret } from './import-secret.ts';
import { importedSecret } from './imported-secret.ts';
import { SecretMetadata, secretMetadata } from './secret-metadata.ts';
import { changing, reportSecret } from './secret-source.ts';
import { deleteSecret } from './secret-store.ts';

/** `import/<path>`: a secret of another server, with the numbers and times that it has there. */
export function importPath(): AnyPath {
  return path('import/{path:all}', {
    synopsis: 'Writes a secret of another server with all its versions.',
    description:
      'Numbers, times, deletions and settings become those that are sent, and max_versions removes nothing. Versions that are here already must be the ' +
      'same; missing ones are added, so the call may be repeated. A deleted version may come without its data, and can then not be undeleted.',
    access: 'sudo',
    exactNumbers: true,
    fields: {
      path: f.name('Where the secret is kept.'),
      metadata: f.map('Required: what a read of metadata/ shows of the secret at the other server.'),
      versions: f.map('Required. By number: created_time, deletion_time, destroyed, and data, the secret itself.'),
      replace: f.bool('Removes the secret that is here first, with all its versions.', { default: false }),
    },
  }).update({
    summary: 'Writes a secret with given numbers and times.',
    response: SecretMetadata,
    handle: async (req) => {
      const { path: id, metadata, versions, replace } = req.data;
      if (id === '' || id.endsWith('/')) throw new BadRequest('missing path');
      if (!metadata) throw new BadRequest('metadata is missing');
      if (!versions) throw new BadRequest('versions is missing');
      const sent = importedSecret(metadata, versions);
      return changing(req.storage, id, async (tx) => {
        if (replace) await deleteSecret(tx, id);
        const secret = await importSecret(tx, id, sent);
        reportSecret(tx, 'written', id);
        return { data: secretMetadata(secret) };
      });
    },
  });
}
