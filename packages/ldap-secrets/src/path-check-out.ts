import { type AnyPath, f, leased, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Library } from './library.ts';
import { pathName } from './path-name.ts';

const CheckIns = Type.Object({
  check_ins: Type.Array(Type.String(), { description: 'The accounts that this call checked in.' }),
});

export function checkOutPaths(library: Library): readonly AnyPath[] {
  const name = pathName('set');
  const names = f.commaStrings('The accounts to check in. May be left out where the caller has one of the set.');

  const checkOut = path('library/{name:path}/check-out', {
    synopsis: 'Borrows a service account.',
    description: 'The account comes back at check-in, or at the end of the lease, and gets another password then.',
    fields: {
      name,
      ttl: f.duration("Length of the lease, at most the set's; 0 for no limit, where the set has none."),
      wait: f.duration('How long to wait for an account where none is free, first come, first served; at most 80 s are waited.', {
        default: 0,
      }),
    },
  }).update({
    summary: 'Borrows an account of a set.',
    response: leased(Type.Object({ service_account_name: Type.String(), password: Type.String({ secret: true }) })),
    handle: async (req) => library.checkOut(req, { set: req.data.name, ttl: req.data.ttl, wait: req.data.wait }),
  });

  const checkIn = (pattern: 'library/{name:path}/check-in' | 'library/manage/{name:path}/check-in', forced: boolean): AnyPath =>
    path(pattern, {
      synopsis: forced ? 'Takes back service accounts, whoever has them.' : 'Brings back service accounts.',
      description: forced
        ? 'For highly privileged users.'
        : 'Only who borrowed an account brings it back, the same entity or the same token, unless the set disables that rule.',
      fields: { name, service_account_names: names },
    }).update({
      summary: forced ? 'Takes accounts of a set back.' : 'Brings accounts of a set back.',
      response: CheckIns,
      handle: async (req) => {
        const order = { set: req.data.name, names: req.data.service_account_names, forced };
        const { names: checkIns, failures } = await library.checkIn(req.caller, order, req.signal);
        return { data: { check_ins: checkIns }, ...(failures.length > 0 ? { warnings: failures } : {}) };
      },
    });

  return [checkOut, checkIn('library/{name:path}/check-in', false), checkIn('library/manage/{name:path}/check-in', true)];
}
