import { influxqlDialect, type SerialRules } from '@strongroom/database-sdk';

/** What operators need not write. */
export const REVOCATION_DEFAULT = [`DROP USER "{{username}}";`];
export const PASSWORD_CHANGE_DEFAULT = [`SET PASSWORD FOR "{{username}}" = '{{password}}';`];

export const rules: SerialRules = {
  name: 'influxdb-database-plugin',
  dialect: influxqlDialect,
  defaults: {
    createUser: [`CREATE USER "{{username}}" WITH PASSWORD '{{password}}';`],
    updateUser: PASSWORD_CHANGE_DEFAULT,
    deleteUser: REVOCATION_DEFAULT,
  },
};
