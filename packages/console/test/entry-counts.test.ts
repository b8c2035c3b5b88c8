import { expect, test } from '@jest/globals';
import { countsOf } from '../web/app/entry-counts.ts';

test('what needs a person counts at the entry that leads to it', () => {
  const item = (kind: Parameters<typeof countsOf>[0][number]['kind'], mount_type: string | null = null) => ({ kind, mount_type });
  expect(
    countsOf([
      ...[item('rotation', 'database'), item('rotation', 'database'), item('rotation', 'ldap'), item('rotation', 'door')],
      ...[item('circuit', 'aws'), item('circuit', 'door'), item('sync', 'sync'), item('drift', 'sync'), item('lease', 'database')],
      ...[item('token'), item('node'), item('journal', 'database'), item('mount', 'toString')],
    ]),
  ).toEqual({
    ...{ '/database': 2, '/ldap': 1, '/aws': 1, '/work': 3, '/sync': 2, '/leases': 1, '/access/policies': 1, '/server': 1 },
    '/mounts': 1,
  });
  expect(countsOf([])).toEqual({});
});
