import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreError } from "../errors.ts";
import { serviceUrl } from "./azure-client.ts";

test("the address follows from the account and the cloud, by its old and its new names", () => {
  const urlIn = (cloud: string): string => serviceUrl(undefined, "acc", cloud, "n").href;
  assert.equal(urlIn("AzurePublicCloud"), "https://acc.blob.core.windows.net/");
  assert.equal(urlIn("AZURECHINACLOUD"), "https://acc.blob.core.chinacloudapi.cn/");
  assert.equal(urlIn("AzureUSGovernmentCloud"), "https://acc.blob.core.usgovcloudapi.net/");
  assert.equal(urlIn("AzureUSGovernment"), "https://acc.blob.core.usgovcloudapi.net/");
});

test("an endpoint is taken as it is, with the account where an emulator wants it", () => {
  const at = (endpoint: string): string => serviceUrl(endpoint, "acc", "AzurePublicCloud", "n").href;
  assert.equal(at("https://acc.blob.example.com/"), "https://acc.blob.example.com/");
  assert.equal(at("acc.blob.example.com"), "https://acc.blob.example.com/");
  assert.equal(at("http://10.0.0.1:10000"), "http://10.0.0.1:10000/acc");
  assert.equal(at("http://azurite:10000"), "http://azurite:10000/acc");
  assert.equal(at("http://azurite:10000/acc/"), "http://azurite:10000/acc/");
});

test("what cannot be an address is refused in a sentence", () => {
  const refused = (sentence: RegExp) => (error: unknown) =>
    error instanceof StoreError && error.code === "refused" && sentence.test(error.message);
  assert.throws(
    () => serviceUrl(undefined, "acc", "MoonCloud", "abs://c"),
    refused(/abs:\/\/c: the cloud "MoonCloud"/),
  );
  assert.throws(
    () => serviceUrl(undefined, undefined, "AzurePublicCloud", "abs://c"),
    refused(/Name the storage account/),
  );
  assert.throws(() => serviceUrl("http://", "acc", "AzurePublicCloud", "abs://c"), refused(/is not a URL/));
});
