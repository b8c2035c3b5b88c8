import { type AnyPath, f, namesPath, NoContent, path } from '@strongroom/engine-sdk';
import { Scope } from '../../services/oidc/oidc-records.ts';
import type { Scopes } from '../../services/oidc/scopes.ts';

/** `identity/oidc/scope…` */
export function scopePaths({ scopes }: { readonly scopes: Scopes }): AnyPath[] {
  return [
    namesPath('oidc/scope', { list: async (page) => scopes.records.list(page) }, { synopsis: 'The scopes that providers can offer.' }),

    path('oidc/scope/{name}', {
      synopsis: 'Configure a scope: claims that clients can request.',
      description: 'scopes_supported of a provider lists the scopes that it offers. The built-in scope openid adds no claims.',
      fields: {
        name: f.name('Name of the scope.'),
        template: f.string(
          'Template of the claims: a JSON object in which {{…}} is replaced by a value of the entity. Base64 is accepted.',
        ),
        description: f.string('A description for people.'),
      },
    })
      .read({
        summary: 'Read a scope',
        response: Scope,
        handle: async ({ data }) => {
          const found = await scopes.get(data.name);
          return found && { data: found };
        },
      })
      .upsert({
        summary: 'Create or change a scope',
        response: NoContent,
        exists: async ({ data }) => (await scopes.get(data.name)) !== undefined,
        handle: async ({ data: { name, ...fields } }) => {
          await scopes.save(name, fields);
          return undefined;
        },
      })
      .delete({
        summary: 'Delete a scope that no provider offers',
        response: NoContent,
        handle: async ({ data }) => {
          await scopes.remove(data.name);
          return undefined;
        },
      }),
  ];
}
