"""The walk with hvac, the Python client, unchanged: run with VAULT_ADDR, VAULT_TOKEN and the lab's settings as JSON in LAB."""
import json
import os

import hvac

lab = json.loads(os.environ["LAB"])
root = hvac.Client(url=os.environ["VAULT_ADDR"], token=os.environ["VAULT_TOKEN"])
assert root.is_authenticated()
assert root.sys.read_health_status(method="GET")["initialized"]

root.sys.enable_auth_method("ldap", path="corp-py")
root.sys.enable_secrets_engine("database", path="db-py")
root.sys.enable_secrets_engine("kv", path="kv-py", options={"version": "2"})
assert "kv-py/" in root.sys.list_mounted_secrets_engines()["data"]
root.sys.create_or_update_policy("py", 'path "kv-py/data/app" { capabilities = ["read"] } path "db-py/creds/app" { capabilities = ["read"] }')
assert "py" in root.sys.list_policies()["data"]["policies"]

root.auth.ldap.configure(
    url=lab["ldap"]["url"],
    bind_dn=lab["ldap"]["bind_dn"],
    bind_pass=lab["ldap"]["bind_pass"],
    user_dn=lab["ldap"]["user_dn"],
    user_attr="uid",
    group_dn=lab["ldap"]["group_dn"],
    group_filter="(member={{.UserDN}})",
    mount_point="corp-py",
)
root.auth.ldap.create_or_update_group(lab["ldap"]["group"], policies=["py"], mount_point="corp-py")
root.secrets.kv.v2.create_or_update_secret("app", secret={"a": "1"}, mount_point="kv-py")
root.secrets.kv.v2.patch("app", secret={"b": "2"}, mount_point="kv-py")
assert root.secrets.kv.v2.list_secrets("", mount_point="kv-py")["data"]["keys"] == ["app"]

root.secrets.database.configure(
    "pg",
    plugin_name="postgresql-database-plugin",
    allowed_roles=["app"],
    connection_url=lab["postgres"]["connection_url"],
    username=lab["postgres"]["username"],
    password=lab["postgres"]["password"],
    mount_point="db-py",
)
root.secrets.database.create_role(
    "app",
    db_name="pg",
    creation_statements=["CREATE ROLE \"{{name}}\" WITH LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}';"],
    default_ttl="1h",
    max_ttl="24h",
    mount_point="db-py",
)

ada = hvac.Client(url=os.environ["VAULT_ADDR"])
login = ada.auth.ldap.login(username=lab["ldap"]["user"], password=lab["ldap"]["password"], mount_point="corp-py")
assert "py" in login["auth"]["policies"], login["auth"]["policies"]
secret = ada.secrets.kv.v2.read_secret_version("app", mount_point="kv-py", raise_on_deleted_version=True)
assert secret["data"]["data"] == {"a": "1", "b": "2"}
try:
    ada.secrets.kv.v2.read_secret_version("other", mount_point="kv-py", raise_on_deleted_version=True)
    raise AssertionError("a path outside the policy was readable")
except hvac.exceptions.Forbidden:
    pass
credentials = ada.secrets.database.generate_credentials("app", mount_point="db-py")
assert credentials["data"]["username"].startswith("v-")
renewed = root.sys.renew_lease(credentials["lease_id"], increment=7200)
assert renewed["lease_duration"] == 7200
root.sys.revoke_lease(credentials["lease_id"])
wrapped = root.secrets.kv.v2.read_configuration(mount_point="kv-py")
assert wrapped["data"]["max_versions"] == 0
token = root.auth.token.create(policies=["py"], ttl="1h")["auth"]
assert hvac.Client(url=os.environ["VAULT_ADDR"], token=token["client_token"]).lookup_token()["data"]["policies"] == ["default", "py"]
root.auth.token.revoke_accessor(token["accessor"])
root.sys.disable_secrets_engine("db-py")
root.sys.disable_secrets_engine("kv-py")
root.sys.disable_auth_method("corp-py")
print("hvac walked")
