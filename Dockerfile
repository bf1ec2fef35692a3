FROM python:3.12-slim
COPY . /src
RUN pip install --no-cache-dir '/src[demo,web]' \
  && useradd --create-home qwf \
  && install -d -o qwf /out
USER qwf
# The node modules of the example are imported from here.
WORKDIR /src/examples
ENV PYTHONPATH=/src/examples
ENTRYPOINT ["qwf"]
