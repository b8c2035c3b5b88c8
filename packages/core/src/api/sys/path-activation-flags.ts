import { f, NotFound, path, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';

const Flags = Type.Object({ activated: Type.Array(Type.String()), unactivated: Type.Array(Type.String()) });

/** `sys/activation-flags`: the features that clients ask for before they use them. What is installed is activated. */
export function activationFlagPaths({ features }: { features: readonly string[] }): AnyPath[] {
  const flags = () => ({ data: { activated: [...features].sort(), unactivated: [] } });
  return [
    path('activation-flags', {
      synopsis: 'Features that are activated.',
      description: 'Every feature of the installed plugins is, from the start.',
      access: 'unauthenticated',
      fields: {},
    }).read({ summary: 'Lists activated features.', response: Flags, handle: async () => flags() }),
    path('activation-flags/{feature}/activate', {
      synopsis: 'Activates a feature.',
      description: 'Changes nothing, since what is installed is activated: for clients that ask first.',
      fields: { feature: f.name('The feature, such as secrets-sync.') },
    }).update({
      summary: 'Activates a feature.',
      response: Flags,
      handle: async ({ data }) => {
        if (!features.includes(data.feature)) {
          throw new NotFound(`there is no feature ${JSON.stringify(data.feature)}; there are: ${features.join(', ') || 'none'}`);
        }
        return flags();
      },
    }),
  ];
}
