"""Packaging: every value is read from settings.ini, nbdev's own configuration file."""

from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

root = Path(__file__).resolve().parent
config = ConfigParser(delimiters=["="])
config.read(root / "settings.ini", encoding="utf-8")
cfg = config["DEFAULT"]
lib, readme = cfg["lib_path"], root / "README.md"

setup(
    name=cfg["lib_name"],
    version=cfg["version"],
    description=cfg["description"],
    author=cfg["author"],
    author_email=cfg["author_email"],
    license="Apache-2.0",
    license_files=["LICENSE"],
    keywords=cfg["keywords"].split(),
    url=cfg["git_url"],
    long_description=readme.read_text(encoding="utf-8") if readme.exists() else "",
    long_description_content_type="text/markdown",
    packages=find_packages(include=[lib, lib + ".*"]),
    package_data={lib: ["py.typed", "data/*", "data/**/*"]},  # the small tables of the book
    python_requires=">=" + cfg["min_python"],
    install_requires=cfg["requirements"].split(),
    extras_require={
        "dev": cfg["dev_requirements"].split(),
        "excel": cfg["excel_requirements"].split(),  # to read workbooks
        "sign": cfg["sign_requirements"].split(),  # ppdt sign, ppdt verify --key
        "dask": cfg["dask_requirements"].split(),  # ppdt.scale on a Dask cluster
        "spark": cfg["spark_requirements"].split(),  # ppdt.scale on Spark
        "lite": cfg["lite_requirements"].split(),  # scripts/lite.py: the book in a browser
        "noise": cfg["noise_requirements"].split(),  # scripts/noisy_trees.py only
    },
    entry_points={
        "console_scripts": cfg["console_scripts"].split(),
        # makes the links of the documentation work
        "nbdev": [f"{lib}={lib}._modidx:d"],
    },
    zip_safe=False,
)
