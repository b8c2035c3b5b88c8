"""Configures the login methods of programs with hvac, the Python client, unchanged, and logs in by each: run with VAULT_ADDR, VAULT_TOKEN and LAB."""
import json
import os

import hvac

lab = json.loads(os.environ["LAB"])
address = os.environ["VAULT_ADDR"]
root = hvac.Client(url=address, token=os.environ["VAULT_TOKEN"])
refusals = (hvac.exceptions.InvalidRequest, hvac.exceptions.Forbidden)


def refused(call):
    try:
        call()
    except refusals:
        return
    raise AssertionError("a wrong secret logs in")


def use(client, login):
    """What a program does with its token."""
    assert login["auth"]["policies"] == ["default", "reader"], login["auth"]
    assert client.is_authenticated()
    assert client.secrets.kv.v2.read_secret_version("app", raise_on_deleted_version=True)["data"]["data"] == {"a": "1"}
    assert client.auth.token.renew_self()["auth"]["lease_duration"] == 3600
    client.auth.token.revoke_self()
    assert not client.is_authenticated()


root.sys.enable_auth_method("approle", path="approle-py")
root.auth.approle.create_or_update_approle("App", token_policies=["reader"], token_ttl="1h", mount_point="approle-py")
assert root.auth.approle.list_roles(mount_point="approle-py")["data"]["keys"] == ["app"]
assert root.auth.approle.read_role("app", mount_point="approle-py")["data"]["token_policies"] == ["reader"]
role_id = root.auth.approle.read_role_id("app", mount_point="approle-py")["data"]["role_id"]
made = root.auth.approle.generate_secret_id("app", metadata={"host": "build-1"}, mount_point="approle-py")["data"]
custom = root.auth.approle.create_custom_secret_id("app", "chosen-by-us", mount_point="approle-py")["data"]
assert custom["secret_id"] == "chosen-by-us"
accessors = root.auth.approle.list_secret_id_accessors("app", mount_point="approle-py")["data"]["keys"]
assert sorted(accessors) == sorted([made["secret_id_accessor"], custom["secret_id_accessor"]])
found = root.auth.approle.read_secret_id("app", made["secret_id"], mount_point="approle-py")["data"]
assert found["metadata"] == {"host": "build-1"}, found
client = hvac.Client(url=address)
login = client.auth.approle.login(role_id, made["secret_id"], mount_point="approle-py")
assert login["auth"]["metadata"] == {"role_name": "app", "host": "build-1"}, login["auth"]
use(client, login)
root.auth.approle.destroy_secret_id_accessor("app", made["secret_id_accessor"], mount_point="approle-py")
refused(lambda: hvac.Client(url=address).auth.approle.login(role_id, made["secret_id"], mount_point="approle-py"))
root.auth.approle.delete_role("app", mount_point="approle-py")
refused(lambda: hvac.Client(url=address).auth.approle.login(role_id, "chosen-by-us", mount_point="approle-py"))

root.sys.enable_auth_method("userpass", path="userpass-py")
users = root.auth.userpass
users.create_or_update_user("ada", password="first password", policies=["reader"], mount_point="userpass-py")
root.write_data("auth/userpass-py/users/ada", data={"token_ttl": "1h"})
assert users.list_user(mount_point="userpass-py")["data"]["keys"] == ["ada"]
users.update_password_on_user("ada", "second password", mount_point="userpass-py")
refused(lambda: hvac.Client(url=address).auth.userpass.login("ada", "first password", mount_point="userpass-py"))
client = hvac.Client(url=address)
use(client, client.auth.userpass.login("ada", "second password", mount_point="userpass-py"))
users.delete_user("ada", mount_point="userpass-py")

root.sys.enable_auth_method("jwt", path="jwt-py")
root.auth.jwt.configure(jwt_validation_pubkeys=[lab["jwt"]["public_key"]], path="jwt-py")
root.auth.jwt.create_role(
    "app", user_claim="sub", allowed_redirect_uris=[], bound_audiences=["strongroom"], token_policies=["reader"], token_ttl=3600, path="jwt-py"
)
assert root.auth.jwt.read_role("app", path="jwt-py")["data"]["bound_audiences"] == ["strongroom"]
client = hvac.Client(url=address)
use(client, client.auth.jwt.jwt_login("app", lab["jwt"]["token"], path="jwt-py"))
refused(lambda: hvac.Client(url=address).auth.jwt.jwt_login("app", lab["jwt"]["token"][:-8] + "AAAAAAAA", path="jwt-py"))

role = root.auth.kubernetes.read_role("app")
assert role["bound_service_account_names"] == ["app"], role
client = hvac.Client(url=address)
use(client, client.auth.kubernetes.login("app", lab["kubernetes"]["token"]))
refused(lambda: hvac.Client(url=address).auth.kubernetes.login("app", lab["kubernetes"]["token"][:-8] + "AAAAAAAA"))
print("hvac logged in")
